"""The lab's errors, one tree; each carries the exit code that the command line answers with.

LabError                     root; exit 2
├── UserError                a mistake in an argument or a file: one line, exit 2
│   ├── ScenarioError        `file:line: key: problem; accepted: ...`
│   └── StoreError           the database: missing, locked, not ours, no such run
├── TargetError              the server under test could not start, or died: exit 3
└── Interrupted              the user stopped a run; what had finished is stored: exit 130
"""

from __future__ import annotations

from typing import ClassVar


class LabError(Exception):
    """Root of all errors that the lab raises on purpose; the message is one line."""

    exit_code: ClassVar[int] = 2


class UserError(LabError):
    """A mistake that its reader can correct: says what is wrong and what is accepted."""


class ScenarioError(UserError):
    """A scenario file, or an option that patches one, says something that cannot be run."""


class StoreError(UserError):
    """The results database cannot be opened, or holds no such run."""


class TargetError(LabError):
    """The target of an arm could not be started, or died while it was driven."""

    exit_code: ClassVar[int] = 3


class Interrupted(LabError):
    """The user stopped a run; the arms that had finished are stored."""

    exit_code: ClassVar[int] = 130
