"""A failed arm packed into a folder that any checkout can replay, without a database.

One rule: what was stored is packed as it was stored; what was made of it here is said to be.

stored.yaml         the scenario as the run was given it, all arms
versions.json       what the run depended on
history.jsonl.gz    the events, one a line
replies.jsonl       every reply that was due, raw text and expected text
verdict.json        what was concluded, and every finding
config.json         the toggles as stored; ``derived``: what the packing kvlab makes of them
seeds.json          the seed of which all others are drawn, by name

Made by the kvlab that packed:
manifest.json       the format, the history's digest, and the digest of every other file
scenario.yaml       the one arm, every setting spelled out; `kvlab run` takes it
stopped.json        the event that the session's replay stopped at
shortened.yaml      the shortened schedule, where there is one
README.txt          how to replay it
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.errors import UserError
from lab.replaying.alone import effective, expectation
from lab.report.document import arm_document
from lab.toggles import to_engine_config
from lab.workloads import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lab.replaying.case import Case

FORMAT, FORMAT_VERSION = "kvlab bundle", 1
MANIFEST, SCENARIO, SHORTENED = "manifest.json", "scenario.yaml", "shortened.yaml"
HISTORY, VERSIONS, VERDICT = "history.jsonl.gz", "versions.json", "verdict.json"
STORED = "stored.yaml"
README = """\
Session {session} of arm {arm!r} of scenario {scenario}, seed {seed}, run {run}: {verdict}.

    kvlab replay {quoted}

runs the arm again from its seed in any checkout of kvlab and compares it, event by event: exit
code 0 where the history has the same digest, 1 where it differs (the first event that does is
named, and the versions that do), 2 where this folder is damaged. No database is needed.

    kvlab run {scenario_file}

stores and judges the same arm.{shorter}

As they were stored: history.jsonl.gz holds every event, one a line; replies.jsonl every reply as it
came; verdict.json what was concluded; stored.yaml the scenario; versions.json what the run depended
on; config.json the settings. What config.json calls derived, and scenario.yaml, were made of these
by the kvlab that packed this folder.
"""
SHORTER = """ The shortest schedule found that still fails alike:

    kvlab run {shortened_file}"""


def check_free(folder: Path | None) -> None:
    """Raise `UserError` where a bundle would be mixed with something else."""
    if folder is not None and folder.exists() and not (folder.is_dir() and _empty(folder)):
        raise UserError(f"{folder}: is there already; --bundle names a new or an empty folder")


def pack(
    case: Case, stopped: Mapping[str, Any] | None, folder: Path, shortened: Path | None
) -> None:
    """Write the bundle of a case; raises `UserError` where it cannot be written."""
    files = _files(case, stopped)
    if shortened is not None:
        files[SHORTENED] = _read(shortened)
    about = {**case.about(), "verdict": case.verdict.verdict}
    files["README.txt"] = _readme(about, folder.resolve().name, shortened is not None)
    digest, events = case.history.history_digest, len(case.history.events)
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **about,
        "history_digest": digest,
        "events": events,
        "files": {name: sha(data) for name, data in sorted(files.items())},
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in {**files, MANIFEST: _json(manifest)}.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from error


def _read(shortened: Path) -> bytes:
    """The shortened schedule's file."""
    try:
        return shortened.read_bytes()
    except OSError as error:
        raise UserError(f"{shortened}: cannot be read: {error.strerror}") from error


def _readme(about: Mapping[str, Any], name: str, shorter: bool) -> bytes:
    """How to replay the bundle, from where its folder is called ``name``."""
    files = {"scenario_file": f"{name}/{SCENARIO}", "shortened_file": f"{name}/{SHORTENED}"}
    files = {key: shlex.quote(file) for key, file in files.items()}
    more = SHORTER.format(**files) if shorter else ""
    return README.format(**about, **files, quoted=shlex.quote(name), shorter=more).encode()


def sha(data: bytes) -> str:
    """A file's digest, as the manifest says it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _files(case: Case, stopped: Mapping[str, Any] | None) -> dict[str, bytes]:
    history, seed = case.history, case.run.seed
    load, settings = case.scenario.workload, case.scenario.settings(case.arm)
    config = to_engine_config(settings, build=case.scenario.build, seed=seed)
    numbers = resolve(load.kind, load.preset, case.scenario.load(case.arm)).model_dump()
    expect = expectation(case.verdict.verdict, case.verdict.violations)
    derived = {"engine": config.as_dict(), "load": {"kind": load.kind, **numbers}}
    events = ({"at_ns": at, "kind": kind, "fields": its} for at, kind, its in history.events)
    verdict = {**arm_document(case.verdict), "findings": [asdict(it) for it in case.findings]}
    return {
        SCENARIO: effective(case.scenario, case.arm, seed, expect).encode(),
        "seeds.json": _json({"scenario": seed, "engine": config.seed, "load": seed}),
        STORED: case.run.yaml.encode(),
        "config.json": _json({"toggles": history.settings, "derived": derived}),
        VERSIONS: _json(case.run.versions),
        HISTORY: gzip.compress(_lines(events), mtime=0),
        "replies.jsonl": _lines(asdict(reply) for reply in history.replies),
        VERDICT: _json(verdict),
        "stopped.json": _json(stopped),
    }


def _json(tree: Any) -> bytes:
    return (json.dumps(tree, indent=2, ensure_ascii=True) + "\n").encode()


def _lines(trees: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(tree).encode() + b"\n" for tree in trees)


def _empty(folder: Path) -> bool:
    return next(folder.iterdir(), None) is None
