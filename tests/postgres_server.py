"""A real PostgreSQL server for the tests that need one, in a temporary folder and on loopback alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adbc_driver_manager import Error
from adbc_driver_postgresql import dbapi

from tests.needs import program

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

WHERE = "/usr/lib/postgresql/*/bin"
"""Where Debian keeps the programs of the server."""
OWNER = "census_owner"
GUARDED = "guarded"
"""A user who needs a password."""
PASSWORD = "open sesame"  # noqa: S105 - of a server that lives for one test run
ACCESS = f"""
host all {GUARDED} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""
SETTINGS = ("fsync=off", "shared_buffers=16MB", "max_connections=30", "listen_addresses=127.0.0.1", "lock_timeout=5s")
"""Little of everything, and no test waits long for what another left behind."""
PATIENCE = 30.0
"""Seconds for the server to start or to stop."""


@dataclass(frozen=True)
class PostgresServer:
    """A running server; to connect takes longer than most commands, so one connection is kept."""

    port: int
    _kept: list[Any] = field(default_factory=list, repr=False, compare=False)

    def address(self, database: str = "postgres", user: str = OWNER) -> str:
        """Return the address of a database."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def run(self, *commands: str, database: str = "postgres") -> None:
        """Run SQL commands as the owner of everything."""
        with self._connected(database) as connection:
            for command in commands:
                with connection.cursor() as cursor:
                    cursor.execute(command)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._connected("postgres") as connection, connection.cursor() as cursor:
            cursor.execute(query)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    @contextmanager
    def _connected(self, database: str) -> Iterator[Any]:
        """Give the connection that is kept, or one to another database."""
        if database != "postgres":
            with closing(dbapi.connect(self.address(database), autocommit=True)) as connection:
                yield connection
            return
        if not self._kept:
            self._kept.append(dbapi.connect(self.address(), autocommit=True))
        yield self._kept[0]

    def close(self) -> None:
        """Give up the connection that is kept."""
        while self._kept:
            self._kept.pop().close()

    def put(self, name: str, table: pa.Table) -> None:
        """Make a table of Arrow data, in place of one of this name."""
        with closing(dbapi.connect(self.address())) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")
            connection.commit()


@contextmanager
def start_postgres() -> Iterator[PostgresServer]:
    """Make a server's folder, run the server in it, and stop it at the end by its number."""
    initdb = program("initdb", also_in=WHERE)
    postgres = program("postgres", also_in=WHERE)
    # The path of a socket is short, and the folders of tests are not open to other users.
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder = Path(name)
        user = _other_user(folder)
        made = [initdb, "-D", f"{folder}/data", "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE, cwd=folder, **user)
        (folder / "data" / "pg_hba.conf").write_text(ACCESS)
        process, server = _run(postgres, folder, user)
        try:
            server.run(f"CREATE USER {GUARDED} PASSWORD '{PASSWORD}'")
            yield server
        finally:
            server.close()
            _stop(process)


def _other_user(folder: Path) -> dict[str, Any]:
    """Give the folder to another user where we are root, as whom the server does not run."""
    if os.name != "posix" or os.geteuid() != 0:
        return {}
    import pwd

    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _run(postgres: str, folder: Path, user: dict[str, Any]) -> tuple[subprocess.Popen[bytes], PostgresServer]:
    """Start the server; another program may take the port before it does, so there are three attempts."""
    for _ in range(3):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        options = [part for setting in (*SETTINGS, f"unix_socket_directories={folder}") for part in ("-c", setting)]
        command = [postgres, "-D", f"{folder}/data", "-p", str(port), *options]
        with (folder / "log").open("wb") as log:
            process: subprocess.Popen[bytes] = subprocess.Popen(command, stderr=log, cwd=folder, **user)
        server = PostgresServer(port)
        if _answers(process, server):
            return process, server
        _stop(process)
    raise AssertionError((folder / "log").read_text())


def _answers(process: subprocess.Popen[bytes], server: PostgresServer) -> bool:
    """Wait until the server answers; not for one that has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            server.run("SELECT 1")
        except Error:
            time.sleep(0.1)
        else:
            return True
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        # A fast shutdown, which waits for nobody.
        process.send_signal(signal.SIGINT)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(PATIENCE)
