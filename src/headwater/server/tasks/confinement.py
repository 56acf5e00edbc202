"""Confines a task that runs stored queries: what it can access, and its limits.

| | |
| --- | --- |
| environment | an explicit list of variables; none of the server's own, no URL of a store |
| file descriptors | stdin and stdout, a channel to the server; stderr, a file |
| the store | no access: the server answers the few requests that a trace needs (:class:`StoreChannelServer`) |
| time, disk | monitored by the server, which kills the task's process group |
| memory, file size | limits that the process sets on itself before it reads untrusted data |
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
from typing import IO, TYPE_CHECKING, Any, TypedDict, cast

from headwater.errors import HeadwaterError, QueryError, UnknownDataset
from headwater.formats.openlineage.facet_names import ROWS_FACET
from headwater.model.answers import Closure
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import Facets, OutputFacet

if TYPE_CHECKING:
    from headwater.store.store import Store

MEGABYTE = 2**20
SCRATCH = "scratch"
"""Folder for the files of a task; it is removed when the task ends."""
INHERITED_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_CACHE_HOME", "LD_LIBRARY_PATH"),
    *("JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_LOCAL_IP", "SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS"),
    *("HADOOP_HOME", "HADOOP_CONF_DIR", "PYSPARK_PYTHON", "PYTHONPATH", "SYSTEMROOT"),
)
"""Variables that Java, Spark and Python need. Credentials for remote storage belong in Spark's configuration."""
_JVM_OVERHEAD = 3 * 1024
"""Megabytes that the JVM needs besides its heap: compiled code, classes, stacks, buffers."""
_MAX_REQUESTS = 100_000
_MAX_REQUEST_BYTES = 1 * MEGABYTE
_MAX_FACETS = 1_000


@dataclass(frozen=True, slots=True)
class TaskLimits:
    seconds: float = 900.0
    megabytes: int = 2048
    """Maximum heap of Spark."""
    disk_megabytes: int = 10_000
    """Maximum size of all files that the task writes."""


def environment(scratch: Path) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    java = " ".join([inherited.get("SPARK_SUBMIT_OPTS", ""), f"-Djava.io.tmpdir={scratch}"]).strip()
    return {**inherited, "TMPDIR": str(scratch), "SPARK_LOCAL_DIRS": str(scratch), "SPARK_SUBMIT_OPTS": java}


def limit_this_process(limits: TaskLimits) -> None:
    """Limit this process and all that it starts. A limit can be lowered but not raised again."""
    try:
        import resource
    except ImportError:  # Windows does not support these limits
        return
    data, size = (limits.megabytes + _JVM_OVERHEAD) * MEGABYTE, limits.disk_megabytes * MEGABYTE
    for kind, limit in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_FSIZE, size), (resource.RLIMIT_CORE, 0)):
        _soft, hard = resource.getrlimit(kind)
        lowered = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (lowered, lowered))


class LimitCheck:
    """Checks whether a task exceeds its time or its disk space. Called repeatedly."""

    def __init__(self, folder: Path, limits: TaskLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds

    def violation(self) -> str | None:
        if time.monotonic() > self._deadline:
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
            except OSError:  # files appear and disappear
                continue
    return total


def remove_scratch(folder: Path) -> None:
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)


# -- the server's side of the channel ---------------------------------------------------------------------------------

StoreRequest = Mapping[str, object]


class _FacetDocument(TypedDict):
    """An output facet in an answer."""

    dataset: tuple[str, str]
    run: str
    job: tuple[str, str]
    completed: str
    facet: Facets


class StoreChannelServer:
    """Answers the queries that a task may send about the store: stored queries of runs, datasets downstream of one,
    and trusted capture keys."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._handlers: dict[str, Callable[[StoreRequest], object]] = {
            "keys": lambda _: sorted(store.trusted_capture_keys()),
            "facets": self._facets,
            "downstream": self._downstream,
        }

    def serve(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        """Answer requests until the task closes its end."""
        with suppress(OSError, ValueError), requests, answers:  # the task may end at any moment
            for _ in range(_MAX_REQUESTS):
                line = requests.readline(_MAX_REQUEST_BYTES)
                if not line.endswith(b"\n"):
                    return
                answers.write(json.dumps(self._answer(line)).encode() + b"\n")
                answers.flush()

    def _answer(self, line: bytes) -> dict[str, object]:
        try:
            request = json.loads(line)
            return {"answer": self._handlers[request["ask"]](request)}
        except UnknownDataset as unknown:
            return {"unknown": unknown.asked, "closest": list(unknown.closest)}
        except HeadwaterError as error:
            return {"error": str(error)}
        except (KeyError, TypeError, ValueError, RecursionError):
            return {"error": "Unknown request."}

    def _facets(self, request: StoreRequest) -> list[_FacetDocument]:
        dataset, run, limit = _read_dataset(request["dataset"]), request["run"], request["limit"]
        if not isinstance(run, str | None) or not isinstance(limit, int):
            raise TypeError
        facets = self._store.output_facets(ROWS_FACET, dataset=dataset, run_id=run, limit=min(limit, _MAX_FACETS))
        return [
            {
                "dataset": (facet.dataset.namespace, facet.dataset.name),
                "run": facet.run_id,
                "job": (facet.job.namespace, facet.job.name),
                "completed": facet.completed_at.isoformat(),
                "facet": facet.facet,
            }
            for facet in facets
        ]

    def _downstream(self, request: StoreRequest) -> list[list[str]]:
        dataset = _read_dataset(request["dataset"])
        if dataset is None:
            raise QueryError("The request names no dataset.")
        nodes = self._store.downstream(dataset, depth=1).nodes
        return [[node.endpoint.namespace, node.endpoint.name] for node in nodes if isinstance(node.endpoint, Dataset)]


def _read_dataset(value: object) -> str | Dataset | None:
    if isinstance(value, list):
        namespace, name = value
        return Dataset(str(namespace), str(name))
    return None if value is None else str(value)


# -- the task's side --------------------------------------------------------------------------------------------------


class StoreChannelClient:
    """The store as a task sees it: through the channel to the server."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers

    def trusted_capture_keys(self) -> frozenset[str]:
        keys: list[str] = self._request(ask="keys")
        return frozenset(keys)

    def output_facets(
        self, facet: str, *, dataset: str | Endpoint | None = None, run_id: str | None = None, limit: int = 100
    ) -> list[OutputFacet]:
        assert facet == ROWS_FACET
        facets: list[_FacetDocument] = self._request(
            ask="facets", dataset=_write_dataset(dataset), run=run_id, limit=limit
        )
        return [
            OutputFacet(
                Dataset(*item["dataset"]),
                item["run"],
                Job(*item["job"]),
                datetime.fromisoformat(item["completed"]),
                item["facet"],
            )
            for item in facets
        ]

    def downstream(self, dataset: str | Endpoint, *, depth: int | None = None) -> Closure:
        """Return a closure with nodes only, one hop away."""
        assert depth == 1
        names: list[tuple[str, str]] = self._request(ask="downstream", dataset=_write_dataset(dataset))
        return cast(Closure, SimpleNamespace(nodes=[SimpleNamespace(endpoint=Dataset(*name)) for name in names]))

    def _request(self, **request: object) -> Any:
        """The answer as parsed JSON: its type is named where it is taken."""
        self._requests.write(json.dumps(request).encode() + b"\n")
        self._requests.flush()
        line = self._answers.readline()
        if not line:
            raise QueryError("The server has stopped.")
        answer = json.loads(line)
        if "unknown" in answer:
            raise UnknownDataset(answer["unknown"], answer["closest"])
        if "error" in answer:
            raise QueryError(answer["error"])
        return answer["answer"]


def _write_dataset(dataset: str | Endpoint | None) -> list[str] | str | None:
    return dataset if dataset is None or isinstance(dataset, str) else [dataset.namespace, dataset.name]


def open_channel() -> StoreChannelClient:
    """Open the channel over stdin and stdout, and redirect both for everything else: Spark prints to stderr."""
    requests, answers = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return StoreChannelClient(requests, answers)
