"""Names are data: whatever they contain, every query returns them byte for byte, on every database."""

from __future__ import annotations

import json

import pytest

from headwater.model.names import Dataset, Job
from headwater.model.plain import plain
from headwater.store.store import Store
from tests.support.events import Json, at, column_lineage, facet, run_event, symlinks, used

NAMES = {
    "quotes": "it's \"quoted\" `back` ''",
    "newlines": "line\nline\r\nline\rend",
    "tabs": "\ttab\t",
    "percent": "100% %s %(name)s %%",
    "colon": ":name :1 a:b::c",
    "backslash": "\\n \\ \\\\ C:\\temp\\",
    "slashes": "//a//b/../c/./",
    "like": "_%[a-z]*?",
    "emoji": "🌊👩‍👩‍👧🇵🇱",
    "right to left": "\u202eabc\u202c\u200f שלום",
    "combining": "e\u0301 vs é",
    "sql": "x'; DROP TABLE dataset; --",
    "more sql": '") OR 1=1; DELETE FROM audit; /*',
    "html": "<script>alert(1)</script>&amp;<img src=x onerror=alert(2)>",
    "template": "{{7*7}} ${7*7} {0} {name}",
    "blanks": "  leading and trailing  ",
    "control": "\x01\x02\x1b[31m\x7f\x85",
    "json": '{"a": [1, null]}',
    "marks": "a#b@c→d#e@f",
    "null": "null",
    "separators": "a\u2028b\u2029c\ufeff",
    "highest": "\U0010ffff\uffff\ufffe",
    "long": "0123456789" * 1_000,
    "long emoji": "🌊" * 10_000,
    "long and random": "".join(chr(33 + (i * i * 7919) % 90) for i in range(10_000)),
    "empty": "",
}


def events(text: str) -> list[Json]:
    """The same text as namespace, name, job, column, partition, run id, owner, tag, version and facet name."""
    source = {
        "namespace": text,
        "name": f"{text}a",
        "field": text,
        "transformations": [{"type": "DIRECT", "subtype": text, "description": text}],
    }
    partition = {"type": "partition", "partitions": [{"identifier": text, "dimensions": {text: text}}]}
    event = run_event(
        inputs=[used(f"{text}a", namespace=text, input_facets={"subset": facet(inputCondition=partition)})],
        outputs=[
            used(
                text,
                namespace=text,
                facets={
                    "columnLineage": facet(fields={text: {"inputFields": [source]}}),
                    "schema": facet(fields=[{"name": text, "type": text, "description": text}]),
                    "ownership": facet(owners=[{"name": text}]),
                    "tags": facet(tags=[{"key": text, "value": "true"}]),
                    "version": facet(datasetVersion=text),
                    f"{text}_facet": facet(text=text),
                },
                output_facets={"subset": facet(outputCondition=partition)},
            )
        ],
    )
    event["run"]["runId"] = run_name(text)
    event["job"] |= {"namespace": text, "name": text}
    child = run_event("START", minute=1)
    child["run"] = {
        "runId": f"{run_name(text)} child",
        "facets": {"parent": facet(run={"runId": run_name(text)}, job={"namespace": text, "name": text})},
    }
    return [event, child]


def run_name(text: str) -> str:
    return text or "a run needs a name"


BOTH = {"quotes", "percent", "colon", "like", "sql", "control", "highest", "long emoji", "empty"}
"""What the databases and their drivers treat each in its own way; of the others, half run on each in the short run."""


def short(database: str, name: str) -> bool:
    return name in BOTH or list(NAMES).index(name) % 2 == (database == "sqlite")


@pytest.mark.parametrize(
    ("store_url", "text"),
    [
        pytest.param(database, text, id=f"{database}-{name}", marks=[] if short(database, name) else [pytest.mark.long])
        for database in ("sqlite", "postgresql")
        for name, text in NAMES.items()
    ],
    indirect=["store_url"],
)
def test_every_query_returns_names_unchanged(store: Store, text: str) -> None:
    for event in events(text):
        store.ingest(event)
        assert store.ingest(event).duplicate
    source, target, job = Dataset(text, f"{text}a"), Dataset(text, text), Job(text, text)

    for grain in ({}, {"column": text}, {"partition": text}):
        up = store.upstream(target, **grain)  # type: ignore[arg-type]
        down = store.downstream(source, **grain)  # type: ignore[arg-type]
        assert (up.endpoint, down.endpoint) == (target, source)
        assert [node.endpoint for node in up.nodes] == [source]
        assert [node.endpoint for node in down.nodes] == [target]
        assert [node.part for node in (*up.nodes, *down.nodes)] == [text if grain else None] * 2
        assert {node.via.job for node in (*up.nodes, *down.nodes)} == {job}
        assert {node.via.run_id for node in (*up.nodes, *down.nodes)} == {run_name(text)}
    via = store.upstream(target, column=text).nodes[0].via
    assert (via.transformation, via.logic) == (text, text or None)

    impact = store.impact(source, column=text)
    assert [(a.endpoint, a.jobs, a.owner) for a in impact.affected] == [(target, (job,), text)]
    assert [column.name for column in impact.affected[0].columns] == [text]

    detail = store.dataset(target)
    assert (detail.summary.dataset, detail.summary.owner, detail.summary.tags) == (target, text, (text,))
    assert [(field.name, field.type, field.description) for field in detail.schema] == [(text, text, text)]
    assert (detail.versions[0].label, detail.versions[0].job, detail.partitions) == (text, job, (text,))
    assert detail.facets[f"{text}_facet"] == facet(text=text)
    assert {summary.dataset for summary in store.datasets(text)} == {source, target}
    assert [summary.dataset for summary in store.datasets(owner=text)] == [target]
    assert [summary.dataset for summary in store.datasets(tag=text)] == [target]
    assert {summary.dataset for summary in store.datasets(namespace=text)} == {source, target}

    run = store.run(run_name(text))
    assert (run.run.run_id, run.run.job) == (run_name(text), job)
    assert [(edge.upstream, edge.upstream_partition, edge.downstream, edge.partition) for edge in run.edges] == [
        (source, text, target, text)
    ]
    assert [(edge.upstream_column, edge.downstream_column) for edge in run.column_edges] == [(text, text)]
    assert [child.run_id for child in run.children] == [f"{run_name(text)} child"]
    assert [found.run_id for found in store.runs(job=text, namespace=text)] == [run_name(text)]
    assert [found.run_id for found in store.runs(dataset=target)] == [run_name(text)]
    assert store.diff(run_name(text), run_name(text)).same

    assert [entry.resource_id for entry in store.audit(resource=run_name(text))] == [run_name(text)]
    assert store.verify()[0] == 2
    for answer in (up, down, impact, detail, run, store.audit()):
        assert json.loads(json.dumps(plain(answer))) == plain(answer)


def test_similar_names_stay_distinct(store: Store) -> None:
    """Nothing is folded, trimmed or normalised; a separator in a name does not make another name."""
    alike = ["a", "A", "a ", " a", "á", "a\u0301", "\u0430", "a\n", "a\t", "a/", "/a", "\uff41", ""]
    store.ingest(run_event(inputs=alike))
    assert {summary.dataset.name for summary in store.datasets()} == set(alike)
    for name in alike:
        assert store.dataset(Dataset("warehouse", name)).summary.dataset.name == name


def test_a_boundary_may_be_anywhere(store: Store) -> None:
    pairs = [("a", "b/c"), ("a/b", "c"), ("", "a/b/c"), ("a/b/c", "")]
    store.ingest(run_event(inputs=[used(name, namespace=namespace) for namespace, name in pairs]))
    found = {(summary.dataset.namespace, summary.dataset.name) for summary in store.datasets()}
    assert found == set(pairs)


def test_names_that_differ_only_at_the_end_of_ten_thousand_characters(store: Store) -> None:
    base = "x" * 9_999
    for i, end in enumerate("ab"):
        said = column_lineage({base + end: [("source", base + end)]})
        store.ingest(
            run_event(run=end, job=base + end, outputs=[used(base + end, facets={"columnLineage": said})], minute=i)
        )
    for end in "ab":
        (node,) = store.upstream(Dataset("warehouse", base + end), column=base + end).nodes
        assert node.part == base + end


def test_hostile_aliases(store: Store) -> None:
    for i, text in enumerate(NAMES.values()):
        store.ingest(run_event(run=str(i), inputs=[used(f"d{i}", facets={"symlinks": symlinks(text)})], minute=i))
    for i, text in enumerate(NAMES.values()):
        assert store.dataset(Dataset("catalog", text)).summary.dataset.name == f"d{i}"


def test_a_hostile_actor_is_recorded_as_is(store: Store) -> None:
    from headwater.model.audit import Actor

    for text in NAMES.values():
        store.ingest(run_event(run=text, minute=0), actor=Actor(text, text, text, text, text))
    assert {entry.actor_id for entry in store.audit()} == set(NAMES.values())
    for text in NAMES.values():
        (entry,) = store.audit(correlation_id=text)
        assert (entry.actor_type, entry.client_ip, entry.user_agent) == (text, text, text)
    assert store.verify()[0] == len(NAMES)
    assert all(entry.recorded_at > at(-(10**6)) for entry in store.audit())
