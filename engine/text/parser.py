"""The streaming reply parser: raw text in, reasoning, content and tool calls out.

One rule: how the text is cut into pieces changes nothing. The parser emits only what no later
text can change: it keeps back a tail that may be the start of a marker, and a block of calls is
judged whole, at the reply's end, so that a reply is never half a call and half a leak.

A reply is ``<think>`` reasoning ``</think>`` content, two line breaks, a DSML block; every part may
be missing. What is not a healthy block of calls to defined tools stays content, word for word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from engine.errors import IllegalMove
from engine.text import dsml
from engine.text.dsml import DsmlError, Problem, ToolCall, Tools
from engine.text.tokenizer import END_THINK, SPELLING, THINK

OPENER = "\n\n" + dsml.OPEN
_THINK, _END_THINK = SPELLING[THINK], SPELLING[END_THINK]


class State(Enum):
    """What the parser is reading."""

    START = "start"  # nothing decided: the reply may open with <think>
    REASONING = "reasoning"
    CONTENT = "content"
    BLOCK = "block"  # after the opener of a block of calls
    DONE = "done"


LEGAL: dict[State, frozenset[State]] = {
    State.START: frozenset({State.REASONING, State.CONTENT, State.DONE}),
    State.REASONING: frozenset({State.CONTENT, State.DONE}),
    State.CONTENT: frozenset({State.BLOCK, State.DONE}),
    State.BLOCK: frozenset({State.DONE}),
    State.DONE: frozenset(),
}


@dataclass(frozen=True)
class Delta:
    """A piece of one part of a reply; an empty piece says that its part exists."""

    reasoning: str | None = None
    content: str | None = None
    call: ToolCall | None = None


@dataclass(frozen=True)
class Parsed:
    """A whole reply. ``reasoning`` is None where the reply did not open with ``<think>``.

    ``content`` is None where nothing follows an unclosed thought, or only calls do.
    """

    reasoning: str | None
    content: str | None
    calls: tuple[ToolCall, ...]
    problem: Problem | None = None  # why a block of calls was left as content


class StreamParser:
    """Parses one reply. With ``tools`` None, markup is content: nobody may call anything."""

    def __init__(self, tools: Tools | None = None) -> None:
        self._tools = tools
        self._state = State.START
        self._wait = ""  # read, not yet decided
        self._block: list[str] = []
        self._said_content = False
        self.problem: Problem | None = None

    def feed(self, text: str) -> list[Delta]:
        """What ``text`` settles. Raises IllegalMove after ``finish``."""
        if self._state is State.BLOCK:
            self._block.append(text)
            return []
        self._wait += text
        deltas: list[Delta] = []
        if self._state is State.START:
            deltas += self._start()
        if self._state is State.REASONING:
            deltas += self._reasoning()
        if self._state is State.CONTENT:
            deltas += self._content()
        if self._state is State.DONE:
            raise IllegalMove("a reply was fed after its end")
        return deltas

    def finish(self) -> list[Delta]:
        """What the reply's end settles: the rest of the text, and all of its calls."""
        state, rest = self._state, self._wait
        self._move(State.DONE)
        if state is State.REASONING:
            return [Delta(reasoning=rest)] if rest else []
        if state is State.BLOCK:
            return self._calls("".join(self._block))
        return [Delta(content=rest)] if rest or not self._said_content else []

    def held(self, text: str, marker: str) -> int:
        """How many characters at the end of ``text`` may be the start of ``marker``."""
        for length in range(min(len(marker) - 1, len(text)), 0, -1):
            if text.endswith(marker[:length]):
                return length
        return 0

    def _move(self, to: State) -> None:
        if to not in LEGAL[self._state]:
            raise IllegalMove(f"parser: {self._state.value} -> {to.value}")
        self._state = to

    def _start(self) -> list[Delta]:
        if self._wait.startswith(_THINK):
            self._wait = self._wait[len(_THINK) :]
            self._move(State.REASONING)
            return [Delta(reasoning="")]
        if not _THINK.startswith(self._wait):
            self._move(State.CONTENT)
        return []

    def _reasoning(self) -> list[Delta]:
        said, closed = self._until(_END_THINK)
        if closed:
            self._move(State.CONTENT)
        return [Delta(reasoning=said)] if said else []

    def _content(self) -> list[Delta]:
        if self._tools is None:
            said, opened, self._wait = self._wait, False, ""
        else:
            said, opened = self._until(OPENER)
        if opened:
            self._move(State.BLOCK)
            self._block, self._wait = [self._wait], ""
        self._said_content |= bool(said)
        return [Delta(content=said)] if said else []

    def _until(self, marker: str) -> tuple[str, bool]:
        """Take what stands before ``marker``, and whether it came; it is swallowed."""
        said, found, rest = self._wait.partition(marker)
        if not found:
            cut = len(said) - self.held(said, marker)
            said, rest = said[:cut], said[cut:]
        self._wait = rest
        return said, bool(found)

    def _calls(self, rest: str) -> list[Delta]:
        try:
            calls = dsml.parse_block(dsml.OPEN + rest, self._tools or {})
        except DsmlError as error:
            self.problem = error.problem
            return [Delta(content=OPENER + rest)]
        return [Delta(call=call) for call in calls]


def collect(deltas: Iterable[Delta], problem: Problem | None = None) -> Parsed:
    """The reply that a stream of deltas adds up to."""
    reasoning: str | None = None
    content: str | None = None
    calls: list[ToolCall] = []
    for delta in deltas:
        if delta.reasoning is not None:
            reasoning = (reasoning or "") + delta.reasoning
        if delta.content is not None:
            content = (content or "") + delta.content
        if delta.call is not None:
            calls.append(delta.call)
    return Parsed(reasoning, content, tuple(calls), problem)


def parse(text: str, tools: Tools | None = None) -> Parsed:
    """Parse a whole reply at once: ``StreamParser`` fed in one piece."""
    parser = StreamParser(tools)
    deltas = parser.feed(text) + parser.finish()
    return collect(deltas, parser.problem)
