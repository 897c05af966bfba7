"""What `run`, `ab` and `sweep` do once they know their arms. One rule: nothing else differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from lab.commands.output import exit_code, note, note_idle, show_json, show_line, show_run

if TYPE_CHECKING:
    from lab.records import RunVerdict
    from lab.scenario.models import Scenario


@dataclass(frozen=True)
class Options:
    """What the three commands take besides their own, as it was typed."""

    file: Path
    seed: int | None
    sessions: int | None
    sets: Sequence[str] | None
    db: Path
    out: Path | None
    as_json: bool
    fail_on: Sequence[str] | None
    repeats: int = 1
    dry_run: bool = False
    resume: str | None = None
    keep_going: bool = False

    def load(self, *, here: bool = False) -> Scenario:
        """The scenario as `--set` and `--seed` patch it; raises `UserError`."""
        from lab.scenario.loader import load_scenario

        return load_scenario(self.file, self.sets or (), self.seed, here=here)

    def answer(self, arms: Scenario, command: Sequence[str]) -> int:
        """Run the arms, as often as they are to be repeated, or show what that would start; the
        exit code. ``command``: how to ask for them.
        """
        from lab.scenario.rounds import repeated

        every = repeated(arms, self.repeats)
        if self.dry_run:
            return self.show(every)
        again = ["--repeats", str(self.repeats)] if self.repeats > 1 else []
        return self.perform(every, [*command, *again])

    def perform(self, arms: Scenario, command: Sequence[str]) -> int:
        """Run, store, judge and show the arms; the exit code."""
        from lab.asking import asked
        from lab.running import Way, folder_of, perform
        from lab.scenario.loader import capped

        sets = self.sets or ()
        how = asked(command, self.file, arms, sets=sets, seed=self.seed, sessions=self.sessions)
        way = Way(self.resume, self.keep_going)
        note_idle(arms)
        verdict = perform(capped(arms, self.sessions), self.db, self.out, how, way)
        show_run(verdict, self.as_json, folder_of(verdict.run, self.db, self.out))
        if not self.as_json:
            self._next_step(verdict)
        return exit_code(verdict, self.fail_on)

    def show(self, arms: Scenario) -> int:
        """Print what the arms would start, or what is left of a stored run; the exit code."""
        from lab.dry_run import dry_run, dry_run_lines
        from lab.resuming import kept_of
        from lab.scenario.loader import capped

        arms = capped(arms, self.sessions)
        done = kept_of(self.db, arms, self.resume) if self.resume else ()
        document = dry_run(arms, done)
        if self.as_json:
            show_json(document)
        for line in () if self.as_json else dry_run_lines(document):
            show_line(line)
        return 0

    def _next_step(self, verdict: RunVerdict) -> None:
        """What tells more of a corrupt run: of a wrong reply, else of what the ledger saw."""
        from lab.store import DEFAULT_DB

        where = "" if self.db == DEFAULT_DB else f" --db {quote(str(self.db))}"
        corrupt = [arm for arm in verdict.arms if arm.verdict == "corrupt"]
        if any(arm.replies_corrupt for arm in corrupt):
            note(f"why a reply is wrong: kvlab explain {verdict.run}{where}")
        elif corrupt:
            show = f"kvlab show {verdict.run} --arm {quote(corrupt[0].name)}{where}"
            note(f"no reply is wrong; what was seen: {show}")
            for name in [name for name, n in corrupt[0].violations.items() if n][:1]:
                note(f"what that means: kvlab catalog {name}")
