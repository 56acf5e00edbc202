"""Dead letters tried again: through the node that gave them up, as it is now, and the nodes after it, into the sinks.

A replay is a run of its own. Its items are those that the letters were made of, under the ids they have always had;
what else the nodes after it need (the other side of a join) is read again, and is no item of this run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.model.expectations import Expectation
from headwater.pipeline.dead_letters.replay_execution import AGAIN, REPLAYED, SKIPPED, ReplayExecution
from headwater.pipeline.dead_letters.waiting import WaitingLetters
from headwater.pipeline.declare.pipeline import PipelineDeclaration
from headwater.pipeline.run.execution import PipelineExecution, Watcher
from headwater.pipeline.run.pipeline_run import PipelineRun
from headwater.pipeline.run.result import Result
from headwater.pipeline.run.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ReplayResult:
    """What became of the letters of one node. ``runs``: those that had left them."""

    node: str
    runs: tuple[str, ...]
    succeeded: int
    failed: int
    """Letters of the new run again."""
    superseded: int
    """Not tried: a later run has left letters of the same items."""
    result: Result

    @property
    def run_id(self) -> str:
        return self.result.run_id


class ReplayRun(PipelineRun):
    """A run of letters. It is no run of the pipeline's own job: that one's lineage is not what a few rows read."""

    def __init__(
        self, letters: WaitingLetters, pipeline: PipelineDeclaration, spark: SparkSession, **run_options: Any
    ) -> None:
        super().__init__(pipeline, spark, **run_options)
        self.nodes = letters.nodes
        self._letters = letters

    @property
    def job(self) -> str:
        return f"{super().job}.replay"

    @property
    def expectations(self) -> Sequence[Expectation]:
        """What is promised of all rows is not promised of a few."""
        return ()

    def replay(self) -> ReplayResult:
        result = self.run()
        counts = self._replay_execution.outcome_counts
        letter_counts = (counts.get(REPLAYED, 0), counts.get(AGAIN, 0), counts.get(SKIPPED, 0))
        return ReplayResult(self._letters.target.name, self._letters.runs, *letter_counts, result)

    def _execution(self, workspace: Workspace, watcher: Watcher) -> PipelineExecution:
        # Nothing is gained by counting rows first: one item may have several letters, and other sources are not its.
        options = self._options.with_(ensure_terminal=False)
        self._replay_execution = ReplayExecution(
            self._spark, self.nodes, options, workspace, watcher, letters=self._letters
        )
        return self._replay_execution

    def _extra_facets(self, execution: PipelineExecution) -> dict[str, Any]:
        letters = self._letters
        return {
            "replays": {
                "node": letters.target.name,
                "runs": list(letters.runs),
                "letters": dict(self._replay_execution.outcome_counts),
            }
        }
