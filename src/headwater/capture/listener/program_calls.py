"""Calls of the program that no execution of Spark SQL shows: RDDs that are saved, functions that are run for their
effects, and models that are fitted and saved.

The methods of pyspark are wrapped once in a process. A wrapped call posts a message before and after itself, which the
listener's queue puts in order with everything else; what the call is about waits here until the observer takes it. A
context without capture costs one look into a dictionary (docs/decisions/0024).
"""

from __future__ import annotations

import logging
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from headwater.capture.listener.named_runs import current
from headwater.capture.listener.program_exit import failure_of
from headwater.capture.listener.when_imported import when_imported

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.ml.util import MLWriter
    from pyspark.sql import DataFrame

MODEL_JOB_TAG = "headwater-model-work"
"""The job tag of the writes that save the parts of a model: they are one write."""
SAVES = {
    "saveAsTextFile": "text",
    "saveAsPickleFile": "pickle",
    "saveAsSequenceFile": "sequence",
    "saveAsHadoopFile": None,
    "saveAsNewAPIHadoopFile": None,
    "saveAsHadoopDataset": None,
    "saveAsNewAPIHadoopDataset": None,
}
"""Methods of an RDD that write, and the format of the files."""
EFFECTS = ("foreach", "foreachPartition")
_FOLDERS = ("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir")
_MAX_WAITING = 10_000  # calls that the observer has not taken yet

_log = logging.getLogger("headwater")
_inside: ContextVar[bool] = ContextVar("headwater call", default=False)
_training: ContextVar[str | None] = ContextVar("headwater training", default=None)


@dataclass(frozen=True)
class ProgramCall:
    """``path``: where it writes, as the program states it; ``rdd`` and ``frame``: what it reads; ``training``: the call
    that fitted the model which is saved."""

    method: str
    path: str | None = None
    format: str | None = None
    rdd: RDD[object] | None = None
    frame: DataFrame | None = None
    training: str | None = None


class ProgramCalls:
    """The calls of one application. ``post`` posts a message to the observer."""

    def __init__(self, context: SparkContext, post: Callable[..., None]) -> None:
        self._context = context
        self._post = post
        self._waiting: dict[str, ProgramCall] = {}

    def begin(self) -> None:
        _of_context[id(self._context)] = self
        if not _wrapped:
            _wrapped.append(True)
            _wrapping("RDDs", _wrap_rdds)
            when_imported("pyspark.ml.base", partial(_wrapping, "models that are fitted", _wrap_estimators))
            when_imported("pyspark.ml.util", partial(_wrapping, "models that are saved", _wrap_model_writers))

    def end(self) -> None:
        if _of_context.get(id(self._context)) is self:
            del _of_context[id(self._context)]

    def take(self, token: str) -> ProgramCall | None:
        return self._waiting.pop(token, None)

    @contextmanager
    def reported(self, kind: str, call: ProgramCall) -> Iterator[str]:
        """Report a call, its end and its failure. Calls that it makes are part of it."""
        token, named = uuid.uuid4().hex, current.get()
        tags = [] if named is None else [named.tag]
        if len(self._waiting) < _MAX_WAITING:
            self._waiting[token] = call
        self._post(kind=f"{kind}-begin", token=token, time=_now(), tags=tags)
        within = _inside.set(True)
        failed: Mapping[str, str | None] = {}
        try:
            yield token
        except BaseException as error:
            failure = failure_of(error)
            failed = {"failure": failure.message, "stack": failure.stack_trace}
            raise
        finally:
            _inside.reset(within)
            self._post(kind=f"{kind}-end", token=token, time=_now(), **failed)


_wrapped: list[bool] = []
_of_context: dict[int, ProgramCalls] = {}
_trainings: WeakKeyDictionary[object, str] = WeakKeyDictionary()
"""By model: the call that fitted it."""


def _now() -> int:
    return int(time.time() * 1000)


def _calls_of(context: object) -> ProgramCalls | None:
    return None if _inside.get() else _of_context.get(id(context))


def _wrapping(what: str, wrap: Callable[[], None]) -> None:
    """Within the program's own import, which must not fail."""
    try:
        wrap()
    except Exception as error:  # a pyspark whose methods have other names
        _log.warning("%s are not captured in this process. %s: %s", what.capitalize(), type(error).__name__, error)


def _wrap_rdds() -> None:
    from pyspark import RDD

    for name, form in SAVES.items():
        setattr(RDD, name, _reporting_save(name, form, getattr(RDD, name)))
    for name in EFFECTS:
        setattr(RDD, name, _reporting_effect(name, getattr(RDD, name)))


def _reporting_save(name: str, form: str | None, save: Callable[..., None]) -> Callable[..., None]:
    @wraps(save)
    def reporting(self: RDD[object], *arguments: object, **named: object) -> None:
        calls = _calls_of(self.ctx)
        if calls is None:
            return save(self, *arguments, **named)
        place = arguments[0] if arguments else named.get("path", named.get("conf"))
        with calls.reported("save", ProgramCall(name, _path(place), form, rdd=self)):
            return save(self, *arguments, **named)

    return reporting


def _path(place: object) -> str | None:
    """A path, or the configuration of a Hadoop job, which need not be about files."""
    if isinstance(place, Mapping):
        return next((str(place[key]) for key in _FOLDERS if key in place), None)
    return None if place is None else str(place)


def _reporting_effect(name: str, run: Callable[..., None]) -> Callable[..., None]:
    @wraps(run)
    def reporting(self: RDD[object], *arguments: object, **named: object) -> None:
        calls = _calls_of(self.ctx)
        if calls is None:
            return run(self, *arguments, **named)
        with calls.reported("effect", ProgramCall(name, rdd=self)):
            return run(self, *arguments, **named)

    return reporting


def _wrap_estimators() -> None:
    estimator = sys.modules["pyspark.ml.base"].Estimator
    fit = estimator.fit

    @wraps(fit)
    def reporting(self: object, dataset: DataFrame, *arguments: object, **named: object) -> object:
        token = _training.get()  # a stage of a pipeline is fitted on what the pipeline is
        if token is not None:
            return _remembered(fit(self, dataset, *arguments, **named), token)
        calls = _calls_of(getattr(getattr(dataset, "sparkSession", None), "_sc", None))
        if calls is None:
            return fit(self, dataset, *arguments, **named)
        with calls.reported("fit", ProgramCall(type(self).__name__, frame=dataset)) as token:
            within = _training.set(token)
            try:
                return _remembered(fit(self, dataset, *arguments, **named), token)
            finally:
                _training.reset(within)

    estimator.fit = reporting


def _remembered(models: object, token: str) -> object:
    """`fit` with several sets of parameters returns several models."""
    for model in models if isinstance(models, list) else [models]:
        with suppress(TypeError):  # a model of the program's own may have no hash
            _trainings[model] = token
    return models


def _wrap_model_writers() -> None:
    util = sys.modules["pyspark.ml.util"]
    _note_instance(util.JavaMLWriter)
    for writer in (util.MLWriter, util.JavaMLWriter):
        writer.save = _reporting_model_save(writer.save)


def _note_instance(writer: type[MLWriter]) -> None:
    make: Callable[..., None] = writer.__init__

    @wraps(make)
    def noting(self: MLWriter, instance: object, *arguments: object, **named: object) -> None:
        make(self, instance, *arguments, **named)
        vars(self).setdefault("instance", instance)

    type.__setattr__(writer, "__init__", noting)


def _reporting_model_save(save: Callable[[MLWriter, str], None]) -> Callable[[MLWriter, str], None]:
    @wraps(save)
    def reporting(self: MLWriter, path: str) -> None:
        from pyspark import SparkContext

        context = SparkContext._active_spark_context
        calls = None if context is None else _calls_of(context)
        if context is None or calls is None:
            return save(self, path)
        model = vars(self).get("instance")
        training = None if model is None else _trainings.get(model)
        call = ProgramCall(type(model).__name__, path, "ml", training=training)
        with calls.reported("model", call):
            context.addJobTag(MODEL_JOB_TAG)
            try:
                return save(self, path)
            finally:
                context.removeJobTag(MODEL_JOB_TAG)

    return reporting
