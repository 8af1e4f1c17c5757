"""A PostgreSQL server for tests: a private cluster, on this machine only, stopped and removed at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Debian does not put the programs of the server on the path.
FOLDERS = sorted(Path("/usr/lib/postgresql").glob("[0-9]*/bin"), reverse=True)


def program(name: str) -> str | None:
    return shutil.which(name) or next((str(folder / name) for folder in FOLDERS if (folder / name).exists()), None)


class Cluster:
    """A running server."""

    def __init__(self, folder: Path, port: int, account: dict[str, Any]) -> None:
        self.folder, self.port, self._account = folder, port, account
        self._databases = 0

    def command(self, name: str, *words: str) -> None:
        """Runs a program of PostgreSQL as the user who owns the cluster. What it prints goes to a file: a server that
        was started would keep a pipe open."""
        found = program(name)
        assert found is not None, f"there is no {name}"
        log = self.folder / "commands.log"
        with log.open("a") as output:
            done = subprocess.run(
                [found, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=120,
                check=False, **self._account,
            )  # fmt: skip
        assert done.returncode == 0, f"{name} {words}:\n{log.read_text()}"

    def new_database(self, by_socket: bool = False) -> str:
        """The URL of an empty database, over 127.0.0.1 or a Unix socket."""
        self._databases += 1
        name = f"people{self._databases}"
        self.command("createdb", "--host", str(self.folder), "--port", str(self.port), "--username", "owner", name)
        if by_socket:
            return f"postgresql://owner@/{name}?host={self.folder}&port={self.port}"
        return f"postgresql://owner@127.0.0.1:{self.port}/{name}"


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """Starts a server that listens on 127.0.0.1 and on a socket in a temporary folder. It refuses to run as root, so that
    root lends it to "postgres" or "nobody"."""
    if program("initdb") is None or program("pg_ctl") is None:
        missing = "PostgreSQL's initdb and pg_ctl are not installed; apt-get install postgresql"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    account: dict[str, Any] = {}
    # Not in pytest's folders: nobody but their owner may look into those. The path of a socket must be short, too.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if os.geteuid() == 0:
            account = unprivileged()
            os.chown(folder, account["user"], account["group"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        made, data = Cluster(folder, port, account), str(folder / "data")
        made.command("initdb", "-D", data, "-U", "owner", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
        try:
            made.command("pg_ctl", "-D", data, "-o", options, "-l", str(folder / "server.log"), "-w", "start")
            yield made
        finally:
            made.command("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unprivileged() -> dict[str, Any]:
    import pwd

    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
