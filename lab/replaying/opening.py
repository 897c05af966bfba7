"""A bundle, read and trusted. One rule: what is not as its manifest says is one line, not a run."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.errors import UserError
from lab.replaying.bundle import (
    FORMAT,
    FORMAT_VERSION,
    HISTORY,
    MANIFEST,
    SCENARIO,
    VERDICT,
    VERSIONS,
    sha,
)
from lab.replaying.history import digest_of
from lab.scenario.loader import parse_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from lab.replaying.history import Told
    from lab.scenario.models import Scenario

NEEDED = (SCENARIO, HISTORY, VERSIONS, VERDICT)


@dataclass(frozen=True)
class Bundle:
    """What a replay needs of a bundle."""

    folder: Path
    manifest: dict[str, Any]
    scenario: Scenario
    events: list[Told]
    versions: dict[str, Any]
    verdict: str

    @property
    def digest(self) -> str:
        """The packed history's."""
        return str(self.manifest["history_digest"])


def open_bundle(folder: Path) -> Bundle:
    """Read a bundle and check it; raises `UserError` in one line for whatever is wrong with it."""
    if not folder.is_dir():
        what = "no such bundle" if not folder.exists() else "is a file; a bundle is a folder"
        raise UserError(f"{folder}: {what}; `kvlab replay RUN SESSION` takes a stored run")
    manifest = _manifest(folder)
    files = {name: _file(folder, name, manifest["files"]) for name in manifest["files"]}
    try:
        lines = gzip.decompress(files[HISTORY]).splitlines()
        told = [json.loads(line) for line in lines]
        events = [(int(it["at_ns"]), str(it["kind"]), dict(it["fields"])) for it in told]
        versions = dict(json.loads(files[VERSIONS]))
        verdict = str(json.loads(files[VERDICT])["verdict"])
        text = files[SCENARIO].decode()
    except (OSError, EOFError, zlib.error, ValueError, TypeError, KeyError, RecursionError):
        raise UserError(f"{folder}: damaged: a file of it cannot be read") from None
    scenario = parse_scenario(text, str(folder / SCENARIO), here=True)
    if len(scenario.arms) != 1:
        raise UserError(f"{folder / SCENARIO}: {len(scenario.arms)} arms; a bundle holds one")
    if digest_of(events) != manifest["history_digest"]:
        raise UserError(f"{folder / HISTORY}: damaged: the events do not give the history's digest")
    return Bundle(folder, manifest, scenario, events, versions, verdict)


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a bundle that this kvlab can read."""
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(f"{folder}: not a bundle: {MANIFEST}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: damaged: not JSON") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UserError(f"{path}: not a bundle of kvlab's")
    if found.get("format_version") != FORMAT_VERSION:
        version = found.get("format_version")
        raise UserError(f"{path}: bundle format {version!r}; this kvlab reads {FORMAT_VERSION}")
    files = found.get("files")
    missing = [name for name in NEEDED if not isinstance(files, dict) or name not in files]
    if missing or not isinstance(found.get("history_digest"), str):
        what = ", ".join(missing) or "history_digest"
        raise UserError(f"{path}: damaged: it says nothing of {what}")
    return found


def _file(folder: Path, name: str, digests: dict[str, Any]) -> bytes:
    """A file of the bundle that is as the manifest says."""
    path = folder / name
    if "/" in name or "\\" in name or name.startswith("."):
        raise UserError(f"{folder / MANIFEST}: damaged: {name!r} is no file of a bundle")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if sha(data) != digests[name]:
        raise UserError(f"{path}: damaged: it is not the file that the manifest names")
    return data
