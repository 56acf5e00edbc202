"""JARs for some tests and benchmarks: pinned by version and SHA-256, downloaded once into `.jars`.

    def test_merge(...):
        session = SparkSession.builder.config("spark.jars", jars_or_skip("delta"))...

Each is downloaded by Maven if it is installed, with this machine's configuration, else by the Ivy of pyspark. A JAR
that is unavailable is named with its reason, and the tests that need it are reported as not run. A JAR with a wrong
digest is an error: it is never used, and never treated as missing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[2] / ".jars"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
TIMEOUT = 300


class JarsUnavailable(Exception):
    """The JAR is not available on this machine; the reason is one line for the test report."""


class WrongJar(Exception):
    """The downloaded JAR is not the pinned one."""


@dataclass(frozen=True)
class Jar:
    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file(self) -> Path:
        return CACHE / f"{self.artifact}-{self.version}.jar"


POSTGRESQL = Jar(
    "org.postgresql",
    "postgresql",
    "42.7.14",
    "73914527305a40cce504b0d3d90b23caf565136912d607ae8ae7c5895512332c",
)
SQLITE = Jar(
    "org.xerial",
    "sqlite-jdbc",
    "3.53.4.0",
    "bcb1f51e36f940867e83342f9efbf5968ac44a6bef4d397bb4af7b17b45cd2fb",
)
OPENLINEAGE = Jar(
    "io.openlineage",
    "openlineage-spark_2.13",
    "1.53.0",
    "5d84b0ae7e72909b5aae7ed87df878bf06b28d9ac3005765c3529d0a66dbae6f",
)
ANY_SPARK = {"postgresql": (POSTGRESQL,), "sqlite": (SQLITE,)}

PINNED: dict[str, dict[str, tuple[Jar, ...]]] = {
    "3.5": {
        **ANY_SPARK,
        "avro": (
            Jar(
                "org.apache.spark",
                "spark-avro_2.12",
                "3.5.7",
                "b0660bc224cbd1eb3ae144001c1328863060e64f1834dd7bbadc1ddbf09d2b15",
            ),
        ),
        "delta": (
            Jar(
                "io.delta",
                "delta-spark_2.12",
                "3.3.3",
                "4912bf902a1c453aba3bd838ff212dedd357155212f9bb37a6b47d97f2827ebc",
            ),
            Jar(
                "io.delta",
                "delta-storage",
                "3.3.3",
                "45ad193053fd30cebe6d9ab1889873cde39b223a0f210e00ebee8b6642476901",
            ),
        ),
        "iceberg": (
            Jar(
                "org.apache.iceberg",
                "iceberg-spark-runtime-3.5_2.12",
                "1.12.0",
                "8dd8c90e54ed1a20f2461309d047a255ee56382eb7c0a46162b27a4936fd86dc",
            ),
        ),
        "openlineage": (
            Jar(
                "io.openlineage",
                "openlineage-spark_2.12",
                "1.53.0",
                "9fe28ee2e5b2cb535cd51b6572394bddeb684bf0c58650a698cf7724ce62d94d",
            ),
        ),
    },
    "4.1": {
        **ANY_SPARK,
        "avro": (
            Jar(
                "org.apache.spark",
                "spark-avro_2.13",
                "4.1.1",
                "6a19d90bc3b6e88d8db0fa36a19273aa10fea2dbd7a62bb60e4cedd73051b32d",
            ),
        ),
        "delta": (
            Jar(
                "io.delta",
                "delta-spark_4.1_2.13",
                "4.4.0",
                "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10",
            ),
            Jar(
                "io.delta",
                "delta-storage",
                "4.4.0",
                "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
            ),
        ),
        "iceberg": (
            Jar(
                "org.apache.iceberg",
                "iceberg-spark-runtime-4.1_2.13",
                "1.12.0",
                "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
            ),
        ),
        "kafka": (
            Jar(
                "org.apache.spark",
                "spark-sql-kafka-0-10_2.13",
                "4.1.1",
                "9c1ce986f548e6b1dcb0e2dfe2f253a0bc58f2232a32a0c9c6c674dd25a8570c",
            ),
            Jar(
                "org.apache.spark",
                "spark-token-provider-kafka-0-10_2.13",
                "4.0.0",
                "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
            ),
            Jar(
                "org.apache.kafka",
                "kafka-clients",
                "3.9.1",
                "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
            ),
            Jar(
                "org.apache.commons",
                "commons-pool2",
                "2.12.1",
                "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
            ),
        ),
        "openlineage": (OPENLINEAGE,),
    },
    "4.3": {**ANY_SPARK, "openlineage": (OPENLINEAGE,)},
}

NOT_PUBLISHED = {
    ("3.5", "kafka"): "the Kafka source is tried on Spark 4.1 alone",
    ("4.3", "avro"): "there was no spark-avro for Spark 4.3 to be had when these were pinned",
    ("4.3", "kafka"): "there was no Kafka source for Spark 4.3 to be had when these were pinned",
    ("4.3", "delta"): "Delta 4.4.0 is for Spark up to 4.2; on 4.3 its reads fail (NoSuchMethodError: LogicalRDD)",
    ("4.3", "iceberg"): "Iceberg 1.12.0 is for Spark up to 4.1; on 4.3 it does not load (IncompatibleClassChangeError)",
}

_failed: dict[Jar, str] = {}  # asked once: a machine without a network should not wait again for every test


def spark_line() -> str:
    return ".".join(version("pyspark").split(".")[:2])


def jars(name: str, spark: str | None = None) -> list[Path]:
    """The files for "avro", "delta", "iceberg", "kafka", "openlineage", "postgresql" or "sqlite" on this Spark."""
    line = spark or spark_line()
    wanted = PINNED.get(line, {}).get(name)
    if wanted is None:
        raise JarsUnavailable(NOT_PUBLISHED.get((line, name), f"no {name} jar is pinned for Spark {line}"))
    return [_have(jar) for jar in wanted]


def jars_or_skip(*names: str) -> str:
    """The value of `spark.jars`; if a JAR is unavailable, the test is reported as not run."""
    try:
        return ",".join(str(file) for name in names for file in jars(name))
    except JarsUnavailable as unavailable:
        pytest.skip(f"not run: {unavailable}")


def _have(jar: Jar) -> Path:
    if not jar.file.exists():
        if jar in _failed:
            raise JarsUnavailable(_failed[jar])
        try:
            _fetch(jar)
        except JarsUnavailable as unavailable:
            _failed[jar] = str(unavailable)
            raise
    return jar.file


def _fetch(jar: Jar) -> None:
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=CACHE) as scratch:
        folder = Path(scratch)
        client, command = _client(jar, folder)
        try:
            answer = subprocess.run(command, text=True, capture_output=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            raise JarsUnavailable(f"{client} did not bring {jar.file.name} in {TIMEOUT} s") from None
        came = folder / jar.file.name
        if not came.exists():
            raise JarsUnavailable(f"{client} could not bring {jar.file.name}: {_complaint(answer.stdout)}")
        digest = hashlib.sha256(came.read_bytes()).hexdigest()
        if digest != jar.sha256:
            raise WrongJar(f"{jar.file.name} has SHA-256 {digest}; {jar.sha256} is pinned")
        came.replace(jar.file)  # whole and right, or not there


def _client(jar: Jar, folder: Path) -> tuple[str, list[str]]:
    maven = shutil.which("mvn")
    if maven is not None:
        coordinates = f"{jar.group}:{jar.artifact}:{jar.version}"
        options = [f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}"]
        return "Maven", [maven, "--batch-mode", "--no-transfer-progress", COPY, *options]
    java, ivy = _java(), _ivy()
    if java is None or ivy is None:
        raise JarsUnavailable(f"{jar.file.name} is not here, and there is neither Maven nor a Java to run Ivy")
    pattern = f"{folder}/[artifact]-[revision].[ext]"
    dependency = ["-dependency", jar.group, jar.artifact, jar.version, "-notransitive", "-types", "jar"]
    options = ["-cache", str(folder / "ivy"), *dependency, "-retrieve", pattern]
    return "Ivy", [java, "-cp", str(ivy), "org.apache.ivy.Main", *options]


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")


def _ivy() -> Path | None:
    package = find_spec("pyspark")
    if package is None or package.origin is None:
        return None
    return next((Path(package.origin).parent / "jars").glob("ivy-*.jar"), None)


def _complaint(output: str) -> str:
    told = [line.strip() for line in output.splitlines() if "ERROR" in line or "not found" in line.lower()]
    return told[0] if told else "it gave no reason"
