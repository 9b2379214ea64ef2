"""The command `pgcontext` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parents[2] / "server"
COMMAND = (sys.executable, "-m", "pgcontext")


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """An environment in which only these settings are made and data lies below the folder."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "LANG")}
    return {**kept, "PYTHONPATH": str(PACKAGE_FOLDER), "HOME": str(folder), **variables}


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a folder."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that listens."""

    url: str
    process: subprocess.Popen[str]
    said: Sequence[str]
    """The lines on stderr so far."""

    def stop(self) -> int:
        """Ask it to leave; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


@contextmanager
def running(folder: Path, arguments: Sequence[str] = (), **variables: str) -> Iterator[ServerProcess]:
    """A server over HTTP on a free port."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *arguments],
        cwd=folder,
        env=environment(folder, **variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said: list[str] = []
    # a pipe that nobody reads fills up, and then the server waits
    rest = threading.Thread(target=said.extend, args=(process.stderr,))
    with process.stderr:
        try:
            url = _announced_url(process.stderr, said)
            rest.start()
            yield ServerProcess(url, process, said)
        finally:
            process.kill()
            process.wait()
            if rest.ident is not None:
                rest.join()


def _announced_url(stderr: Iterable[str], said: list[str]) -> str:
    for line in stderr:
        said.append(line)
        if found := re.search(r"listens on (http://\S+)", line):
            return found[1]
    raise AssertionError(f"the server did not start:\n{''.join(said)}")
