"""A run in a thread of its own."""

from __future__ import annotations

from concurrent.futures import Future

from headwater.pipeline.run.pipeline_run import PipelineRun
from headwater.pipeline.run.result import Result


class BackgroundRun:
    def __init__(self, pipeline_run: PipelineRun) -> None:
        from pyspark import InheritableThread

        self._pipeline_run = pipeline_run
        self._future: Future[Result] = Future()
        self._thread = InheritableThread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._future.set_result(self._pipeline_run.run())
        except BaseException as error:  # wait() raises it
            self._future.set_exception(error)

    @property
    def done(self) -> bool:
        return self._future.done()

    def wait(self, timeout: float | None = None) -> Result:
        """Returns the result, or raises the error that the run ended with."""
        return self._future.result(timeout)

    def cancel(self) -> None:
        """Cancels the run: stops its Spark jobs, accounts for its items, and closes its sinks."""
        self._pipeline_run.cancel()
