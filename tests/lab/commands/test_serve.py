"""What `kvlab serve` refuses: one line, before anything is started."""

from __future__ import annotations

import socket

import pytest

pytestmark = pytest.mark.usefixtures("folder")
FOREIGN = """\
name: foreign
target: http://127.0.0.1:9
workload: {kind: tool_sessions, preset: small}
arms: [{name: one}]
"""


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--defect", "padded_scater"], "--defect padded_scater: unknown defect; accepted: abort_"),
        (["--set", "engine.index_k=bf17"], "engine.index_k: 'bf17' is not accepted"),
        (["--set", "engine.hicache=true", "--set", "engine.radix=false"], "hicache is on and rad"),
        (["--arm", "one"], "--arm one: there are no arms; name a scenario that has some"),
        (["good.yaml", "--arm", "fp8, graf on"], "(did you mean 'fp8, graph on'?)"),
        (["nowhere"], "nowhere: no such file"),
        (["foreign.yaml"], "foreign.yaml: its target is http://127.0.0.1:9, which is not ours"),
        (["--port", "65536"], "'--port': must be less than or equal to 65535"),
        (["--host", "203.0.113.1"], "--host 203.0.113.1: "),
        (["--host", "no host"], "--host no host: "),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(argv: list[str], says: str, kvlab, folder) -> None:
    (folder / "foreign.yaml").write_text(FOREIGN)
    said = kvlab("serve", *argv)
    assert (said.code, said.out) == (2, "")
    assert says in said.err and said.err.count("\n") == 1


def test_a_port_in_use_is_one_line_and_exit_3(kvlab) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = kvlab("serve", "--port", str(port))
    assert (said.code, said.out) == (3, "")
    assert said.err == f"kvlab: --port {port}: in use at 127.0.0.1; --port 0 takes a free one\n"
