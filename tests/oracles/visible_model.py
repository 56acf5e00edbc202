"""The correct answers with limited visibility: the model, reduced to its visible part.

It shares no code with the store. Visibility is applied last, to the result of all events together, so that a hidden
statement about a visible object still counts: see docs/access.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from tests.oracles.event_facts import Json, Name, Use
from tests.oracles.flows import Flow
from tests.oracles.model import MOST_EDGES, Model, RunAccount, Version

Sees = Callable[[str], bool]
_GONE = "what is hidden"


class VisibleModel(Model):
    def __init__(self, events: Iterable[Json], sees: Sees, most_edges: int = MOST_EDGES) -> None:
        self.full = Model(events, most_edges)
        super().__init__((said.body for said in self.full.events), most_edges)
        self._sees = sees

    def _shows(self, name: Name | None) -> bool:
        return name is None or self._sees(name[1])

    # -- datasets -----------------------------------------------------------------------------------------------------

    def resolve(self, name: Name) -> Name:
        """Aliases are resolved with all claims, hidden ones included."""
        return self.full.resolve(name)

    @cached_property
    def names(self) -> set[Name]:
        return {name for name in self.full.names if self._shows(name) and self._is_known(self.resolve(name))}

    def _is_known(self, canonical: Name) -> bool:
        """A use counts, whichever job used it; what was read from it or written to it only if that is visible."""
        return self._shows(canonical) and (
            canonical in self.full.seen
            or any(version.target == canonical or canonical in version.upstreams for version in self.versions)
        )

    def aliases(self, canonical: Name) -> list[Name]:
        return [name for name in self.full.aliases(canonical) if self._shows(name)]

    @cached_property
    def seen(self) -> dict[Name, tuple[int, int]]:
        """Under any of its names."""
        times: dict[Name, tuple[int, int]] = {}
        for name in self.full.names:
            same = [name, *self.full.aliases(name)]
            known = [self.full.seen[one] for one in same if one in self.full.seen]
            if known:
                times[name] = min(first for first, _ in known), max(last for _, last in known)
        return times

    def merged_facets(self, canonical: Name) -> Json:
        """Without its lineage, which the graph shows as far as its jobs are visible."""
        left: Json = self._redacted(self.full.merged_facets(canonical))
        return {name: facet for name, facet in left.items() if name not in ("columnLineage", "lineage")}

    def words(self, canonical: Name) -> tuple[str, str | None, tuple[str, ...]]:
        return self.full.words(canonical)

    # -- runs ---------------------------------------------------------------------------------------------------------

    @cached_property
    def runs(self) -> dict[str, RunAccount]:
        return {run_id: self._account(run) for run_id, run in self.full.runs.items() if self._shows(run.job)}

    def _account(self, run: RunAccount) -> RunAccount:
        parent = self.full.runs.get(run.parent or "")
        account = replace(
            run,
            parent=run.parent if parent is not None and self._shows(parent.job) else None,
            job_facets=self._redacted(run.job_facets),
            inputs=dict(self._uses(run.inputs)),
            outputs=dict(self._uses(run.outputs)),
        )
        account.__dict__["flows"] = [self._flow(flow) for flow in run.flows if self._shows(flow.target)]
        return account

    def _uses(self, uses: Any) -> Iterator[tuple[Name, Use]]:
        for name, use in uses.items():
            if self._shows(name):
                facets, io_facets = self._redacted(use.facets), self._redacted(use.io_facets)
                yield name, replace(use, facets=facets, io_facets=io_facets)

    def _flow(self, flow: Flow) -> Flow:
        upstreams = {name: basis for name, basis in flow.upstreams.items() if self._shows(name)}
        return Flow(flow.target, upstreams, {fact for fact in flow.columns if self._shows(fact.upstream)})

    # -- versions -----------------------------------------------------------------------------------------------------

    @cached_property
    def versions(self) -> list[Version]:
        return [
            replace(
                version,
                upstreams={name: read for name, read in version.upstreams.items() if self._shows(name)},
                columns=frozenset(fact for fact in version.columns if self._shows(fact.upstream)),
            )
            for version in self.full.versions
            if self._shows(version.target) and self._shows(version.job)
        ]

    # -- documents ----------------------------------------------------------------------------------------------------

    def _redacted(self, value: Any) -> Any:
        left = self._left(value)
        return {} if left is _GONE else left

    def _left(self, value: Any) -> Any:
        if isinstance(value, list):
            return [left for left in map(self._left, value) if left is not _GONE]
        if not isinstance(value, dict):
            return value
        members = {key: self._left(member) for key, member in value.items()}
        if members.get("job") is _GONE or ("namespace" in value and not self._sees(value["namespace"])):
            return _GONE
        return {key: member for key, member in members.items() if member is not _GONE}
