"""A SuperLink and SuperNodes of Flower on this machine, as processes that can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

SCRIPTS = Path(sys.executable).parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(folder: Path) -> dict[str, str]:
    """Flower's own files are in this folder, and it reports nothing to anybody."""
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(SCRIPTS), os.environ["PATH"]]),
        "FLWR_HOME": str(folder / "home"),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
    }


def answers(address: str, within: float) -> None:
    deadline = time.monotonic() + within
    while True:
        try:
            urllib.request.urlopen(address, timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, f"{address} does not answer"
            time.sleep(0.2)


class Federation:
    """A SuperLink with this many SuperNodes. A node that is killed is started again, as a supervisor would do it.

    The folder has, for each node, its number in ``node-N.pid``, its logbook and its log. The apps find the folder in the
    variable ``FEDERATION``.
    """

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder = folder
        self.port = free_port()
        self.environment = {**environment(folder), "FEDERATION": str(folder)}
        self.started: list[subprocess.Popen[bytes]] = []
        self.commands: list[list[str]] = []
        self.nodes: dict[int, subprocess.Popen[bytes]] = {}
        self.restarts: list[int] = []
        self._stopping = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise)
        self._count = nodes

    def __enter__(self) -> Federation:
        home = self.folder / "home"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "loopback"\n[superlink.loopback]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n'
        )
        self._start(
            "superlink", "flower-superlink", "--insecure", "--host", "127.0.0.1", "--port", str(self.port),
            "--disable-runtime-dependency-installation",
        )  # fmt: skip
        try:
            answers(f"http://127.0.0.1:{self.port}/health", within=60)
            for number in range(self._count):
                self._start_node(number)
        except BaseException:
            self._stop()
            raise
        self._supervisor.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._supervisor.join()
        self._stop()

    def run(self, app: Path, config: dict[str, Any], within: float) -> str:
        """Runs an app to its end, and returns what its server printed."""
        words = " ".join(f"{key}='{value}'" if isinstance(value, str) else f"{key}={value}" for key, value in config.items())
        command = ["flwr", "run", str(app), "loopback", "--stream", "--run-config", words]
        self.commands.append(command)
        done = subprocess.run(
            command,
            env=self.environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=within, check=False,
        )  # fmt: skip
        return done.stdout

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        self.commands.append(list(command))
        with (self.folder / f"{name}.log").open("ab") as log:
            # A group of its own, so that what it starts is stopped with it.
            started = subprocess.Popen(
                command, env=self.environment, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
        self.started.append(started)
        return started

    def _start_node(self, number: int) -> None:
        self.nodes[number] = self._start(
            f"node-{number}", "flower-supernode", "--insecure", "--superlink", f"127.0.0.1:{self.port}",
            "--host", "127.0.0.1", "--port", str(free_port()),
            "--node-config", f"partition-id={number} logbook=\"{self.folder / f'node-{number}.logbook'}\"",
        )  # fmt: skip
        (self.folder / f"node-{number}.pid").write_text(str(self.nodes[number].pid))

    def _supervise(self) -> None:
        while not self._stopping.wait(0.2):
            for number, node in list(self.nodes.items()):
                if node.poll() == -signal.SIGKILL:
                    self.restarts.append(number)
                    self._start_node(number)

    def _stop(self) -> None:
        for process in reversed(self.started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
