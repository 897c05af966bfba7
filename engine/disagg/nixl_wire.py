"""The wire of production: two NIXL agents in one process, joined by UCX.

One rule: a transfer is started, waited for and released inside one poll, its note with it. Nothing
moves behind the engine's back; there is no progress thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.disagg.timed_wire import TimedWire
from engine.errors import ConfigError

if TYPE_CHECKING:
    from engine.disagg.wire import Region, Side, Write

Offsets = NDArray[np.int64]  # [runs], bytes
Descriptors = NDArray[np.uint64]  # [runs, 3]: address, bytes, device

POLLS = 5_000_000  # some seconds: UCX has lost its peer
INSTALL = "pip install -e '.[nixl]'"  # in a checkout; there is no other way to have it
MISSING = f"wire nixl needs the package nixl_cu13: {INSTALL}"
_numbers = count()  # UCX knows agents by name, process-wide


class NixlWire(TimedWire):
    """WRITEs with notification from the prefill's agent to the decode's.

    Raises ``ConfigError`` where NIXL is not installed or memory is not the host's.
    """

    def __init__(self) -> None:
        super().__init__()
        number = next(_numbers)
        self._agents: dict[Side, Any] = {
            "prefill": _agent(f"prefill-{number}"),
            "decode": _agent(f"decode-{number}"),
        }
        self._registered: list[tuple[Side, Any]] = []

    def register(self, side: Side, regions: Sequence[Region]) -> None:
        """Add to a side's regions and pin them; the prefill learns the keys of the decode's."""
        for region in regions:
            if region.memory.device.type != "cpu":
                raise ConfigError(
                    f"wire nixl moves host memory, and {region.pool} lies on "
                    f"{region.memory.device}; wire inproc moves that",
                    ("wire", "device"),
                )
        agent, rows = self._agents[side], [_row(region) for region in regions if len(region.memory)]
        if rows:
            self._registered.append((side, agent.register_memory(rows, "DRAM")))
        if side == "decode":
            self._agents["prefill"].add_remote_agent(agent.get_agent_metadata())
        super().register(side, regions)

    def close(self) -> None:
        """Give back the memory and both agents; idempotent."""
        super().close()
        for side, descriptors in self._registered:
            self._agents[side].deregister_memory(descriptors)
        self._registered.clear()
        self._agents.clear()

    def _move(self, writes: Sequence[Write], note: str) -> str:
        told = len(self._arrived) + bool(note)
        if sides := [self._descriptors(write) for write in writes if write.src]:
            handle = self._transfer(sides, note)
            try:
                why = self._until(lambda: self._agents["prefill"].check_xfer_state(handle))
            finally:
                self._agents["prefill"].release_xfer_handle(handle)
            if why:
                return why
        elif note:  # NIXL has no empty transfers
            self._agents["prefill"].send_notif(self._agents["decode"].name, note.encode())
        return self._until(lambda: "DONE" if len(self._arrived) >= told else "PROC")

    def _transfer(self, sides: Sequence[tuple[Descriptors, Descriptors]], note: str) -> Any:
        agent, peer = self._agents["prefill"], self._agents["decode"]
        source, target = (
            agent.get_xfer_descs(np.concatenate(rows), "DRAM") for rows in zip(*sides, strict=True)
        )
        handle = agent.initialize_xfer("WRITE", source, target, peer.name, note.encode())
        agent.transfer(handle)
        return handle

    def _until(self, state: Callable[[], str]) -> str:
        """Busy-poll until a state is DONE, as production's workers do; why it is not, or ``""``."""
        polls = 0
        while (now := state()) == "PROC" and polls < POLLS:
            self._listen()
            polls += 1
        return "" if now == "DONE" else f"nixl: {now} after {polls:,} polls"

    def _listen(self) -> None:
        """Take notifications in; asking is also what drives either side's half of a transfer."""
        for agent in self._agents.values():
            for messages in agent.get_new_notifs().values():
                self._arrived.extend(message.decode() for message in messages)

    def _descriptors(self, write: Write) -> tuple[Descriptors, Descriptors]:
        """A write's runs on both sides."""
        src, dst, sizes = runs(write)
        return self._rows("prefill", write, src, sizes), self._rows("decode", write, dst, sizes)

    def _rows(self, side: Side, write: Write, starts: Offsets, sizes: Offsets) -> Descriptors:
        address = self._memory(side, write).data_ptr()
        return np.stack([starts + address, sizes, np.zeros_like(sizes)], 1).astype(np.uint64)


def runs(write: Write) -> tuple[Offsets, Offsets, Offsets]:
    """Source offset, destination offset and bytes of each run of items contiguous on both sides.

    SGLang's ``group_concurrent_contiguous``, which takes both strides for the item's length.
    """
    src = np.array(write.src, dtype=np.int64) * write.src_len
    dst = np.array(write.dst, dtype=np.int64) * write.dst_len
    broken = (np.diff(src) != write.src_len) | (np.diff(dst) != write.src_len)
    first = np.concatenate([[0], np.flatnonzero(broken) + 1])
    sizes = np.diff(np.append(first, len(src))) * write.src_len
    return src[first], dst[first], sizes


def _row(region: Region) -> tuple[int, int, int, str]:
    return region.memory.data_ptr(), len(region.memory), 0, ""


def nixl() -> Any:
    """NIXL's API; raises ``ConfigError`` where it cannot be imported."""
    try:
        from nixl_cu13 import _api
    except ImportError as error:
        raise ConfigError(MISSING, ("wire",)) from error
    return _api


def _agent(name: str) -> Any:
    """A quiet agent on UCX, which moves only when it is polled."""
    api = nixl()
    logging.getLogger("nixl").setLevel(logging.WARNING)  # it prints INFO to stdout
    config = api.nixl_agent_config(backends=["UCX"], enable_prog_thread=False)
    return api.nixl_agent(name, config)
