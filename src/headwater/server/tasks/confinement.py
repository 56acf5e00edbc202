"""What a task that runs stored queries gets from its server, and what it does not.

| | |
| --- | --- |
| environment | an explicit list of variables; nothing of the server's own, no address of a store |
| descriptors | stdin and stdout, a channel to the server; stderr, a file |
| the store | not at all: the server answers the few questions that a trace has (:class:`StoreAnswers`) |
| time, disk | watched by the server, which ends the task's whole process group |
| memory, size of a file | limits of the process, which it sets on itself before it reads anything that others wrote |
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any, cast

from headwater.errors import HeadwaterError, QueryError, UnknownDataset
from headwater.formats.openlineage.signed_rows import FACET
from headwater.model.answers import Closure
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import OutputFacet

if TYPE_CHECKING:
    from headwater.store.store import Store

MEGABYTE = 2**20
SCRATCH = "scratch"
"""The folder of a task that its files go to; it is removed when the task ends."""
INHERITED_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_CACHE_HOME", "LD_LIBRARY_PATH"),
    *("JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_LOCAL_IP", "SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS"),
    *("HADOOP_HOME", "HADOOP_CONF_DIR", "PYSPARK_PYTHON", "PYTHONPATH", "SYSTEMROOT"),
)
"""What Java, Spark and Python need to start. Credentials for a remote storage belong into Spark's configuration."""
_JVM_OVERHEAD = 3 * 1024
"""Megabytes that Java takes beside its heap: compiled code, classes, stacks, buffers."""
_MAX_REQUESTS = 100_000
_MAX_REQUEST_BYTES = 1 * MEGABYTE
_MAX_FACETS = 1_000


@dataclass(frozen=True, slots=True)
class TaskLimits:
    seconds: float = 900.0
    megabytes: int = 2048
    """Of Spark's heap."""
    disk_megabytes: int = 10_000
    """Of everything that the task writes."""


def environment(scratch: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    java = " ".join([passed.get("SPARK_SUBMIT_OPTS", ""), f"-Djava.io.tmpdir={scratch}"]).strip()
    return {**passed, "TMPDIR": str(scratch), "SPARK_LOCAL_DIRS": str(scratch), "SPARK_SUBMIT_OPTS": java}


def limit_this_process(limits: TaskLimits) -> None:
    """For the task itself and all that it starts. Limits can be lowered, never raised again."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    data, size = (limits.megabytes + _JVM_OVERHEAD) * MEGABYTE, limits.disk_megabytes * MEGABYTE
    for kind, most in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_FSIZE, size), (resource.RLIMIT_CORE, 0)):
        _soft, hard = resource.getrlimit(kind)
        lowered = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (lowered, lowered))


class LimitCheck:
    """Whether a task takes more than it may; asked again and again."""

    def __init__(self, folder: Path, limits: TaskLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._until = time.monotonic() + limits.seconds

    def reason(self) -> str | None:
        if time.monotonic() > self._until:
            return f"The task took longer than {self._limits.seconds:,.0f} s."
        if _bytes_in(self._folder) > self._limits.disk_megabytes * MEGABYTE:
            return f"The task wrote more than {self._limits.disk_megabytes:,} MB."
        return None


def _bytes_in(folder: Path) -> int:
    total = 0
    for root, _folders, files in os.walk(folder, onerror=None):
        for file in files:
            try:
                total += os.lstat(os.path.join(root, file)).st_size
            except OSError:  # files come and go
                continue
    return total


def remove_scratch(folder: Path) -> None:
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)


# -- the server's side of the channel ---------------------------------------------------------------------------------

StoreRequest = Mapping[str, Any]


class StoreChannelServer:
    """All that a task can learn of the store: what runs kept of their rows, which datasets were made of one, and which
    capture keys are trusted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: dict[str, Callable[[StoreRequest], Any]] = {
            "keys": lambda _: sorted(store.trusted_capture_keys()),
            "facets": self._facets,
            "downstream": self._downstream,
        }

    def serve(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        """Until the task closes its end."""
        with suppress(OSError, ValueError), questions, answers:  # the task may end at any moment
            for _ in range(_MAX_REQUESTS):
                line = questions.readline(_MAX_REQUEST_BYTES)
                if not line.endswith(b"\n"):
                    return
                answers.write(json.dumps(self._answer(line)).encode() + b"\n")
                answers.flush()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            question = json.loads(line)
            return {"answer": self._asked[question["ask"]](question)}
        except UnknownDataset as unknown:
            return {"unknown": unknown.asked, "closest": list(unknown.closest)}
        except HeadwaterError as error:
            return {"error": str(error)}
        except (KeyError, TypeError, ValueError, RecursionError):
            return {"error": "Unknown kind of task."}

    def _facets(self, question: StoreRequest) -> list[dict[str, Any]]:
        found = self._store.output_facets(
            FACET,
            dataset=_read_dataset(question["dataset"]),
            run_id=question["run"],
            limit=min(int(question["limit"]), _MAX_FACETS),
        )
        return [
            {
                "dataset": [one.dataset.namespace, one.dataset.name],
                "run": one.run_id,
                "job": [one.job.namespace, one.job.name],
                "completed": one.completed_at.isoformat(),
                "facet": one.facet,
            }
            for one in found
        ]

    def _downstream(self, question: StoreRequest) -> list[list[str]]:
        dataset = _read_dataset(question["dataset"])
        if dataset is None:
            raise QueryError("The request names no dataset.")
        nodes = self._store.downstream(dataset, depth=1).nodes
        return [[one.endpoint.namespace, one.endpoint.name] for one in nodes if isinstance(one.endpoint, Dataset)]


def _read_dataset(told: Any) -> str | Dataset | None:
    if isinstance(told, list):
        namespace, name = told
        return Dataset(str(namespace), str(name))
    return None if told is None else str(told)


# -- the task's side --------------------------------------------------------------------------------------------------


class StoreChannelClient:
    """The store as a task sees it: through its server."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions = questions
        self._answers = answers

    def trusted_capture_keys(self) -> frozenset[str]:
        return frozenset(self._ask(ask="keys"))

    def output_facets(
        self, facet: str, *, dataset: str | Endpoint | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[OutputFacet]:
        assert facet == FACET
        found = self._ask(ask="facets", dataset=_write_dataset(dataset), run=run_id, limit=limit)
        return [
            OutputFacet(
                Dataset(*one["dataset"]),
                one["run"],
                Job(*one["job"]),
                datetime.fromisoformat(one["completed"]),
                one["facet"],
            )
            for one in found
        ]

    def downstream(self, dataset: str | Endpoint, *, depth: int | None = None) -> Closure:
        """With the nodes alone, one hop away."""
        assert depth == 1
        named = self._ask(ask="downstream", dataset=_write_dataset(dataset))
        return cast(Closure, SimpleNamespace(nodes=[SimpleNamespace(endpoint=Dataset(*one)) for one in named]))

    def _ask(self, **question: Any) -> Any:
        self._questions.write(json.dumps(question).encode() + b"\n")
        self._questions.flush()
        line = self._answers.readline()
        if not line:
            raise QueryError("The server has stopped.")
        told = json.loads(line)
        if "unknown" in told:
            raise UnknownDataset(told["unknown"], told["closest"])
        if "error" in told:
            raise QueryError(told["error"])
        return told["answer"]


def _write_dataset(dataset: str | Endpoint | None) -> list[str] | str | None:
    return dataset if dataset is None or isinstance(dataset, str) else [dataset.namespace, dataset.name]


def open_channel() -> StoreChannelClient:
    """Over stdin and stdout, which from here on are closed to everybody else: what Spark prints goes to stderr."""
    questions, answers = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return StoreChannelClient(questions, answers)
