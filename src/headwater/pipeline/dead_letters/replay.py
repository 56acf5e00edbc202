"""Replays dead letters through the current version of the node that failed on them, and the nodes after it.

A replay is a run of its own. Its items are those of the letters, under their original ids; other inputs of the nodes
after it (the other side of a join) are read again and are not items of this run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from headwater.model.expectations import Expectation
from headwater.pipeline.dead_letters.replay_execution import FAILED_AGAIN, REPLAYED, SKIPPED, ReplayExecution
from headwater.pipeline.dead_letters.waiting import WaitingLetters
from headwater.pipeline.declare.pipeline import PipelineDeclaration
from headwater.pipeline.run.execution import PipelineExecution, Watcher
from headwater.pipeline.run.pipeline_run import PipelineRun, RunArguments
from headwater.pipeline.run.result import Result
from headwater.pipeline.run.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ReplayResult:
    """The outcome of the letters of one node. ``runs``: the runs that wrote them."""

    node: str
    runs: tuple[str, ...]
    succeeded: int
    failed: int
    """Letters that the new run wrote as dead letters again."""
    superseded: int
    """Letters that were not replayed, because a later run wrote letters of the same items."""
    result: Result

    @property
    def run_id(self) -> str:
        return self.result.run_id


class ReplayRun(PipelineRun):
    """A replay run. It belongs to a job of its own, because it reads only a part of the inputs of the pipeline's
    job."""

    def __init__(
        self,
        letters: WaitingLetters,
        pipeline: PipelineDeclaration,
        spark: SparkSession,
        **arguments: Unpack[RunArguments],
    ) -> None:
        super().__init__(pipeline, spark, **arguments)
        self.nodes = letters.nodes
        self._letters = letters

    @property
    def job(self) -> str:
        return f"{super().job}.replay"

    @property
    def expectations(self) -> Sequence[Expectation]:
        """None: expectations are about all rows of a run, and a replay has only some."""
        return ()

    def replay(self) -> ReplayResult:
        result = self.run()
        counts = self._replay_execution.outcome_counts
        letter_counts = (counts.get(REPLAYED, 0), counts.get(FAILED_AGAIN, 0), counts.get(SKIPPED, 0))
        return ReplayResult(self._letters.target.name, self._letters.runs, *letter_counts, result)

    def _execution(self, workspace: Workspace, watcher: Watcher) -> PipelineExecution:
        # Counting rows first would be wrong: one item may have several letters, and other sources are not replayed.
        options = self._options.with_(ensure_terminal=False)
        self._replay_execution = ReplayExecution(
            self._spark, self.nodes, options, workspace, watcher, letters=self._letters
        )
        return self._replay_execution

    def _extra_facets(self, execution: PipelineExecution) -> dict[str, object]:
        letters = self._letters
        return {
            "replays": {
                "node": letters.target.name,
                "runs": list(letters.runs),
                "letters": dict(self._replay_execution.outcome_counts),
            }
        }
