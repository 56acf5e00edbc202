"""Each check of `headwater doctor`, on an installation with exactly that defect."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

import headwater as hw
from headwater.capture.delivery import Delivery, sink_for
from headwater.doctor.disk import disk
from headwater.doctor.findings import CheckStatus, DoctorOptions, Finding
from headwater.doctor.keys import signing_key
from headwater.doctor.python import python
from headwater.doctor.spool import spool
from headwater.doctor.store import store
from headwater.proof.keys import KeyRing
from headwater.store.schema.migrations import HEAD, VERSION_TABLE
from tests.cli.running import OUR_VARIABLES, bare_environment, run_here
from tests.support.events import DAWN, run_event

SOURCES = Path(hw.__file__).parents[1]
PACKAGES = Path(sysconfig.get_path("purelib"))


def run_doctor(folder: Path, url: str | None = None) -> DoctorOptions:
    return DoctorOptions(url or f"sqlite:///{folder}/lineage.db", folder / "spool")


def check_named(findings: list[Finding], check: str) -> Finding:
    return next(finding for finding in findings if finding.check == check)


def event_time(from_now: timedelta) -> float:
    """The time of an event, in the format of the tests' events."""
    return (datetime.now(UTC) + from_now - DAWN) / timedelta(minutes=1)


def filled(folder: Path, from_now: timedelta = timedelta(hours=-1)) -> str:
    url = f"sqlite:///{folder}/lineage.db"
    with hw.connect(url) as lineage:
        lineage.ingest(run_event(inputs=["a"], outputs=["b"], minute=event_time(from_now)))
    return url


Examine = Callable[..., tuple[int, dict[str, dict[str, str]]]]


@pytest.fixture
def doctor_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Examine:
    """`headwater doctor --json` in this process, for checks of the environment and of the first import path."""
    monkeypatch.chdir(tmp_path)
    for name in OUR_VARIABLES:
        monkeypatch.delenv(name, raising=False)

    def examine(first: Path | None = None, **environment: str | None) -> tuple[int, dict[str, dict[str, str]]]:
        for name, value in environment.items():
            monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
        if first is not None:
            monkeypatch.delitem(sys.modules, "pyspark", raising=False)  # which other tests have imported
            monkeypatch.syspath_prepend(str(first))
        capsys.readouterr()
        code = run_here(["doctor", "--json"])
        return parsed(code, *capsys.readouterr())

    return examine


def parsed(code: int, out: str, err: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code and the checks by name, after validating their form."""
    assert err == ""
    told = json.loads(out)
    assert told["ok"] is (code == 0)
    assert [each for each in told["checks"] if (each["sign"] == "ok") is not (each["remedy"] is None)] == []
    return code, {each["check"]: each for each in told["checks"]}


def doctor(folder: Path, path: list[Path], **environment: str | None) -> tuple[int, dict[str, dict[str, str]]]:
    """`headwater doctor --json` as a process that finds packages only in ``path``."""
    variables = {**bare_environment(), **environment, "PYTHONPATH": os.pathsep.join(map(str, [*path, SOURCES]))}
    answer = subprocess.run(
        [sys.executable, "-S", "-m", "headwater", "doctor", "--json"],
        cwd=folder,
        env={name: value for name, value in variables.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return parsed(answer.returncode, answer.stdout, answer.stderr)


def packages_without(folder: Path, *names: str) -> Path:
    """All installed packages except these."""
    made = folder / "packages"
    made.mkdir()
    for entry in PACKAGES.iterdir():
        if not entry.name.lower().startswith(names) and entry.suffix != ".pth":
            (made / entry.name).symlink_to(entry)
    return made


def fake_java(folder: Path, version: str) -> Path:
    """A program that reports this version of Java and does nothing else."""
    program = folder / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nprintf '    java.specification.version = {version}\\n' >&2\n")
    program.chmod(0o755)
    return program.parent.parent


def fake_pyspark(folder: Path, version: str) -> Path:
    package = folder / "other" / "pyspark"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('nobody needs to import it')")
    (package / "version.py").write_text(f'__version__: str = "{version}"\n')
    return package.parent


# -- Python, Java, Spark, the optional parts ------------------------------------------------------


@pytest.mark.parametrize(("version", "sign"), [((3, 10, 2), "failed"), ((3, 11, 0), "ok"), ((3, 99, 0), "warning")])
def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], sign: str) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    assert [finding.sign for finding in python(run_doctor(tmp_path))] == [sign]


def test_no_java(tmp_path: Path) -> None:
    code, found = doctor(tmp_path, [PACKAGES], PATH=str(tmp_path), JAVA_HOME=None)
    assert (code, found["Java"]["sign"]) == (1, "failed")
    assert found["Java"]["found"] == "not found: JAVA_HOME is not set, and PATH has none"
    assert "set JAVA_HOME" in found["Java"]["remedy"]


def test_an_invalid_java_home_takes_precedence_over_path(tmp_path: Path, doctor_here: Examine) -> None:
    java = fake_java(tmp_path, "17")
    code, found = doctor_here(PATH=str(java / "bin"), JAVA_HOME=str(tmp_path / "nowhere"))
    assert (code, found["Java"]["sign"]) == (1, "failed")
    assert "nowhere, and there is no bin/java" in found["Java"]["found"]
    _, found = doctor_here(PATH=str(java / "bin"), JAVA_HOME=None)
    assert found["Java"]["sign"] == "ok"


@pytest.mark.parametrize(
    ("spark_version", "java", "sign"),
    [
        ("4.3.0", "1.8", "failed"),
        ("4.3.0", "17", "ok"),
        ("4.1.0", "21", "ok"),
        ("4.3.0", "25", "warning"),
        ("3.5.6", "17", "ok"),
        ("3.5.6", "21", "warning"),
        ("3.5.6", "11", "failed"),
    ],
)
def test_the_java_versions_of_each_spark(
    tmp_path: Path, doctor_here: Examine, spark_version: str, java: str, sign: str
) -> None:
    _, found = doctor_here(fake_pyspark(tmp_path, spark_version), JAVA_HOME=str(fake_java(tmp_path, java)))
    assert (found["pyspark"]["sign"], found["pyspark"]["found"]) == ("ok", spark_version)
    assert found["Java"]["sign"] == sign, found["Java"]


def test_a_java_that_fails_to_start(tmp_path: Path, doctor_here: Examine) -> None:
    home = fake_java(tmp_path, "17")
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 3\n")
    _, found = doctor_here(JAVA_HOME=str(home))
    assert found["Java"]["sign"] == "failed"
    assert "does not report its version" in found["Java"]["found"]


@pytest.mark.parametrize(("version", "sign"), [("3.3.2", "failed"), ("4.0.1", "warning"), ("5.0.0", "warning")])
def test_other_sparks(tmp_path: Path, doctor_here: Examine, version: str, sign: str) -> None:
    code, found = doctor_here(fake_pyspark(tmp_path, version), JAVA_HOME=str(fake_java(tmp_path, "17")))
    assert found["pyspark"]["sign"] == sign
    assert code == (sign == "failed")
    assert "3.5, 4.1, 4.3" in found["pyspark"]["remedy"]


def test_without_spark_server_and_java(tmp_path: Path) -> None:
    """An installation that only queries a store: none of these is a failure there."""
    path = packages_without(tmp_path, "pyspark", "fastapi")
    code, found = doctor(tmp_path, [path], PATH=str(tmp_path), JAVA_HOME=None)
    assert code == 0
    signs = {check: found[check]["sign"] for check in ("Java", "pyspark", "server", "duckdb")}
    assert signs == {"Java": "warning", "pyspark": "warning", "server": "warning", "duckdb": "ok"}
    assert "headwater[server]" in found["server"]["remedy"]


def test_without_duckdb(tmp_path: Path) -> None:
    code, found = doctor(tmp_path, [packages_without(tmp_path, "duckdb", "_duckdb")])
    assert (code, found["duckdb"]["sign"]) == (1, "failed")


# -- the store ------------------------------------------------------------------------------------


def test_a_valid_store(tmp_path: Path) -> None:
    found = list(store(run_doctor(tmp_path, filled(tmp_path))))
    assert [(each.check, each.sign) for each in found] == [("store", "ok"), ("writing", "ok"), ("journal", "ok")]


def test_no_store_yet(tmp_path: Path) -> None:
    (finding,) = store(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.WARNING
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.db").touch()
    (finding,) = store(run_doctor(tmp_path, f"sqlite:///{tmp_path}/empty.db"))
    assert (finding.sign, "is empty" in finding.found) == (CheckStatus.WARNING, True)


def test_no_store_and_no_permission_to_create_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (finding,) = store(run_doctor(tmp_path, f"sqlite:///{tmp_path}/file/lineage.db"))
    assert finding.sign is CheckStatus.FAILED
    assert str(tmp_path / "file") in finding.found


@pytest.mark.parametrize("address", ["mysql://somewhere/x", "lineage.db"])
def test_an_invalid_store_url(tmp_path: Path, address: str) -> None:
    (finding,) = store(run_doctor(tmp_path, address))
    assert finding.sign is CheckStatus.FAILED


def test_a_file_that_is_not_a_database(tmp_path: Path) -> None:
    (tmp_path / "lineage.db").write_bytes(b"not a database at all, but long enough to be looked at" * 20)
    (finding,) = store(run_doctor(tmp_path))
    assert (finding.sign, "cannot be read as a database" in finding.found) == (CheckStatus.FAILED, True)


@pytest.mark.parametrize(
    ("version", "remedy"), [("0005", "headwater db upgrade"), ("9999", "pip install --upgrade headwater")]
)
def test_a_store_of_another_version(tmp_path: Path, version: str, remedy: str) -> None:
    url = filled(tmp_path)
    with sqlite3.connect(tmp_path / "lineage.db") as database:
        database.execute(f"update {VERSION_TABLE} set version_num = ?", (version,))
    database.close()
    (finding,) = store(run_doctor(tmp_path, url))
    assert finding.sign is CheckStatus.FAILED
    assert version in finding.found
    assert HEAD in finding.found
    assert remedy in (finding.remedy or "")


def test_a_database_of_another_application(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "lineage.db") as database:
        database.execute("create table event (what text)")
    database.close()
    (finding,) = store(run_doctor(tmp_path))
    assert (finding.sign, "not a Headwater store" in finding.found) == (CheckStatus.FAILED, True)


def test_a_read_only_store(tmp_path: Path) -> None:
    filled(tmp_path)
    with sqlite3.connect(tmp_path / "lineage.db") as database:
        database.execute("pragma journal_mode = delete")
    database.close()
    before = (tmp_path / "lineage.db").read_bytes()
    found = list(store(run_doctor(tmp_path, f"sqlite:///file:{tmp_path}/lineage.db?mode=ro&uri=true")))
    assert check_named(found, "store").sign is CheckStatus.OK
    assert check_named(found, "writing").sign is CheckStatus.FAILED
    assert check_named(found, "journal").sign is CheckStatus.WARNING
    assert "delete, not WAL" in check_named(found, "journal").found
    assert (tmp_path / "lineage.db").read_bytes() == before


def test_a_read_only_postgresql(tmp_path: Path, postgres_url: str) -> None:
    assert [(each.check, each.sign) for each in store(run_doctor(tmp_path, postgres_url))] == [
        ("store", "ok"),
        ("writing", "ok"),
    ]
    execute(postgres_url, "ALTER DATABASE {} SET default_transaction_read_only = on")
    found = list(store(run_doctor(tmp_path, postgres_url)))
    assert [(each.check, each.sign) for each in found] == [("store", "ok"), ("writing", "failed")]


def test_a_postgresql_without_the_database(tmp_path: Path, postgres_url: str) -> None:
    (finding,) = store(run_doctor(tmp_path, postgres_url.replace("/test_", "/nowhere_")))
    assert finding.sign is CheckStatus.FAILED
    assert "no database" in finding.found


def test_a_postgresql_that_does_not_respond(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        url = f"postgresql://user:secret@127.0.0.1:{taken.getsockname()[1]}/lineage"
        (finding,) = store(run_doctor(tmp_path, url))
    assert finding.sign is CheckStatus.FAILED
    assert "does not answer" in finding.found
    assert "secret" not in finding.found


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.format(connection.info.dbname).encode())


def test_little_disk_space(tmp_path: Path) -> None:
    """The test cannot fill the disk, so it raises the required space."""
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    wanted = {1: "ok", free * 2: "warning", free * 64: "failed"}
    for room, sign in wanted.items():
        (finding,) = disk(DoctorOptions(f"sqlite:///{tmp_path}/not/yet/there.db", tmp_path, room=room))
        assert finding.sign == sign
        assert str(tmp_path) in finding.found
    assert list(disk(run_doctor(tmp_path, "postgresql://host/lineage"))) == []


# -- the clock ------------------------------------------------------------------------------------


def clock_of(folder: Path, url: str) -> Finding:
    from headwater.doctor.clock import clock

    (finding,) = clock(run_doctor(folder, url))
    return finding


def test_the_clock_is_behind_the_log(tmp_path: Path) -> None:
    url = filled(tmp_path)
    assert clock_of(tmp_path, url).sign is CheckStatus.OK
    later = int((datetime.now(UTC) + timedelta(hours=2)).timestamp() * 1_000_000)
    with sqlite3.connect(tmp_path / "lineage.db") as database:
        names = database.execute("select name from sqlite_master where type = 'trigger' and tbl_name = 'audit'")
        for (name,) in names.fetchall():
            database.execute(f"drop trigger {name}")
        database.execute("update audit set recorded_at = ?", (later,))
    database.close()
    finding = clock_of(tmp_path, url)
    assert finding.sign is CheckStatus.FAILED
    assert "behind the newest entry of the log" in finding.found
    assert ("2:00:0" in finding.found) or ("1:59:5" in finding.found)


def test_an_event_in_the_future(tmp_path: Path) -> None:
    finding = clock_of(tmp_path, filled(tmp_path, timedelta(days=1)))
    assert finding.sign is CheckStatus.WARNING
    assert "ahead of that" in finding.found


def test_an_empty_log_for_the_clock(tmp_path: Path) -> None:
    assert "no log entry to compare with" in clock_of(tmp_path, f"sqlite:///{tmp_path}/nowhere.db").found


@pytest.mark.parametrize(("hours", "how"), [(3, "behind the clock of"), (-3, "ahead of the clock of")])
def test_the_clock_of_the_database_server(tmp_path: Path, postgres_url: str, hours: int, how: str) -> None:
    assert clock_of(tmp_path, postgres_url).sign is CheckStatus.OK
    execute(postgres_url, "CREATE SCHEMA wrong")
    execute(
        postgres_url,
        "CREATE FUNCTION wrong.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
        f"'SELECT pg_catalog.clock_timestamp() + interval ''{hours} hours'''",
    )
    execute(postgres_url, "ALTER DATABASE {} SET search_path = wrong, pg_catalog, public")
    finding = clock_of(tmp_path, postgres_url)
    assert finding.sign is CheckStatus.WARNING
    assert how in finding.found


@pytest.fixture
def in_zone() -> Iterator[Callable[[str], None]]:
    """Sets the time zone of this process."""
    with pytest.MonkeyPatch.context() as patch:

        def move(zone: str) -> None:
            patch.setenv("TZ", zone)
            time.tzset()

        yield move
    time.tzset()


def test_the_time_zone_does_not_matter(tmp_path: Path, doctor_here: Examine, in_zone: Callable[[str], None]) -> None:
    filled(tmp_path)
    for zone, hours in {"UTC": 0, "Pacific/Kiritimati": 14, "Pacific/Pago_Pago": -11}.items():
        in_zone(zone)
        assert datetime.now().astimezone().utcoffset() == timedelta(hours=hours)
        _, found = doctor_here(HEADWATER_STORE="sqlite:///lineage.db")
        assert found["clock"]["sign"] == "ok", found["clock"]


# -- the spool and the key ------------------------------------------------------------------------


def test_waiting_events(tmp_path: Path) -> None:
    (finding,) = spool(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.OK
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        delivery = Delivery([sink_for(url)], tmp_path / "spool", warn=lambda *_: None)
        delivery.send(first := run_event())
        delivery.send(run_event(run="2", minute=5))
        (finding,) = spool(run_doctor(tmp_path))
        assert (finding.sign, finding.found) == (CheckStatus.OK, "2 events being delivered")
        delivery.close(0.1)
    (finding,) = spool(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.WARNING
    assert finding.found.startswith(f"2 events waiting in {tmp_path}/spool since {first['eventTime']}, for ")
    (finding,) = spool(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.WARNING, "to look at it does not change it"


def test_a_spool_that_is_emptied_during_the_check(tmp_path: Path) -> None:
    """A file is listed, and gone when it is opened."""
    (tmp_path / "spool" / "1").mkdir(parents=True)
    (tmp_path / "spool" / "1" / "000000000001.log").symlink_to(tmp_path / "gone")
    (finding,) = spool(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.OK


def test_an_unreadable_spool(tmp_path: Path) -> None:
    (tmp_path / "spool").touch()
    (finding,) = spool(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.FAILED


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_KEY", str(tmp_path / "signing.pem"))
    return tmp_path / "signing.pem"


def test_the_key(tmp_path: Path, key_file: Path) -> None:
    (finding,) = signing_key(run_doctor(tmp_path))
    assert (finding.sign, "headwater keys new" in (finding.remedy or "")) == (CheckStatus.WARNING, True)
    KeyRing.create(key_file)
    (finding,) = signing_key(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.OK
    key_file.chmod(0o640)
    (finding,) = signing_key(run_doctor(tmp_path))
    assert (finding.sign, finding.remedy) == (CheckStatus.FAILED, f"chmod 600 '{key_file}'")


def damaged(file: Path) -> None:
    file.write_text("no key at all")


@pytest.mark.parametrize("spoil", [Path.mkdir, damaged], ids=["unreadable", "damaged"])
def test_an_invalid_key_file(tmp_path: Path, key_file: Path, spoil: Callable[[Path], None]) -> None:
    spoil(key_file)
    if key_file.is_file():
        key_file.chmod(0o600)
    (finding,) = signing_key(run_doctor(tmp_path))
    assert finding.sign is CheckStatus.FAILED
    assert "HEADWATER_KEY" in (finding.remedy or "")


def test_the_key_is_never_shown(doctor_here: Examine, key_file: Path) -> None:
    KeyRing.create(key_file)
    secret = key_file.read_text().splitlines()[1]
    for mode in (0o600, 0o644):
        key_file.chmod(mode)
        _, found = doctor_here(HEADWATER_KEY=str(key_file))
        assert secret[:20] not in json.dumps(found)
