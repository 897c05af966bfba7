"""A wire of posts without memory: what was posted when, and what its notes say."""

from __future__ import annotations

from collections.abc import Sequence

from engine import clock
from engine.disagg.wire import NoPostWatch, Posted, PostState, PostWatch, Region, Side, Write


class FakeWire:
    """Posts end when they are polled at or after ``due_s + late_s``; refused rooms end in ERR."""

    watch: PostWatch = NoPostWatch()

    def __init__(self, late_s: float = 0.0, refused: Sequence[int] = ()) -> None:
        self.posts: list[tuple[float, Posted]] = []  # (posted at, post)
        self.revoked: list[int] = []
        self._late_s, self._refused = late_s, refused

    @property
    def said(self) -> list[str]:
        """The notes of the posts, in order."""
        return [post.note for _, post in self.posts]

    def register(self, side: Side, regions: Sequence[Region]) -> None:
        """There is no memory."""

    def post(self, room: int, writes: Sequence[Write], note: str, seconds: float) -> Posted:
        post = Posted(room, tuple(writes), note, clock.now() + seconds)
        self.posts.append((clock.now(), post))
        if room in self.revoked:
            self.cancel(post)
        elif room in self._refused:
            post.why = "outside registered memory"
            self._end(post, PostState.ERR)
        return post

    def poll(self, posted: Posted) -> PostState:
        if posted.state is PostState.PROC and posted.due_s + self._late_s <= clock.now():
            self._end(posted, PostState.DONE)
        return posted.state

    def cancel(self, posted: Posted) -> None:
        if posted.state is PostState.PROC:
            self._end(posted, PostState.CANCELLED)

    def revoke(self, room: int) -> None:
        self.revoked.append(room)
        for _, post in self.posts:
            if post.room == room:
                self.cancel(post)

    def notes(self) -> list[str]:
        return [post.note for _, post in self.posts if self.poll(post) is PostState.DONE]

    def close(self) -> None:
        """There is nothing to give back."""

    def _end(self, posted: Posted, state: PostState) -> None:
        posted.state = state
        posted.ended.set()
