"""A server that stands in for a foreign one: it takes the documented options, and no other.

Of program `plain` the options say what is wrong with it: `--die TEXT` at its start, `--never`
ready, ready after `--probes N` of them, `--deaf` to SIGTERM, with a `--family`, or at all only if
somebody answers at `--needs URL`. `GET /die` ends it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

from documented import parsed

HEALTH = ("/health", "/healthcheck")
SET = ("CUDA_", "SGLANG_", "VLLM_")


class Handler(BaseHTTPRequestHandler):
    """Its answers; ``told`` is what it says of itself."""

    probes = 0
    told: ClassVar[dict[str, object]] = {}

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/die":
            sys.stderr.write("RuntimeError: the engine core is gone\n")
            os._exit(9)
        status = 200
        if path in HEALTH:
            type(self).probes -= 1
            status = 200 if self.probes < 0 else 503
        body = json.dumps(self.told).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the log is what the tests read."""


def main(argv: list[str]) -> int:
    """Serve until SIGTERM."""
    try:
        program, options = parsed(argv)
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    if "--die" in options:
        sys.stderr.write(f"{options['--die'][0]}\n-----\n")
        return 3
    if "--needs" in options:
        urllib.request.urlopen(options["--needs"][0] + "/health").close()
    if "--deaf" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    family = []
    if "--family" in options:
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        family.append(child.pid)
    Handler.probes = 10**9 if "--never" in options else int(options.get("--probes", ["0"])[0])
    env = {name: text for name, text in os.environ.items() if name.startswith(SET)}
    Handler.told = {"argv": argv, "family": family, "env": env, "program": program}
    with HTTPServer(("127.0.0.1", int(options["--port"][0])), Handler) as server:
        sys.stderr.write(f"{program} listens\n")
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
