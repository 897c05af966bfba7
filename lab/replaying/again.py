"""`kvlab replay BUNDLE`: a packed arm run to its end, here, and compared with what was packed.

One rule: the digest decides; where it differs, the first event that does is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab import interrupts
from lab.judging import judge_arm
from lab.progress import RunProgress
from lab.replaying.history import first_difference
from lab.replaying.opening import open_bundle
from lab.replaying.perform import parted
from lab.trial import run_arm

if TYPE_CHECKING:
    from pathlib import Path

KEYS = ("run", "scenario", "arm", "seed", "session")


def replay_bundle(folder: Path) -> dict[str, Any]:
    """Run a bundle's arm and compare; raises `LabError`."""
    bundle = open_bundle(folder)
    (arm,) = bundle.scenario.arms
    with interrupts.heard(), RunProgress() as progress:
        tick = progress.arm(arm.name, bundle.scenario.sessions(arm))
        history = run_arm(bundle.scenario, arm, bundle.scenario.seed, tick)
        interrupts.check()
    verdict, _ = judge_arm(history)
    same = history.history_digest == bundle.digest
    difference = None if same else first_difference(bundle.events, history.events)
    return {
        "bundle": str(folder),
        **{key: bundle.manifest.get(key) for key in KEYS},
        "same": same,
        "history_digest": history.history_digest,
        "bundle_digest": bundle.digest,
        "events": len(bundle.events),
        "verdict": verdict.verdict,
        "bundle_verdict": bundle.verdict,
        "differs": parted(difference, bundle.versions) if difference is not None else None,
    }
