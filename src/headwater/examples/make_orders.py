"""Writes `orders.jsonl`: four days of a shop's revenue pipeline, as its jobs would have reported them.

    python -m headwater.examples.make_orders

Every morning an orchestrator cleans yesterday's orders, joins them with the customers and adds up the day's revenue; a
dashboard reads it. One enrichment fails and is repeated. On the last day the revenue is converted to euros, so two
runs of one job differ. Customer scores come from opaque Python code, so no columns are recorded.
The exchange rates are exported by another team, which declares its job without reporting runs.

The file is the same on every machine: a test compares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

Json = dict[str, object]

PRODUCER = "https://headwater.example/shop"
SPEC = "https://openlineage.io/spec"
LAKE, CATALOG, ERP = "s3://shop-lake", "hive://metastore:9083", "postgres://erp:5432"
FIRST_DAY = datetime(2026, 11, 9, tzinfo=UTC)
DAYS = [FIRST_DAY + timedelta(days=n) for n in range(4)]
FAILED_DAY, CHANGED_DAY = DAYS[2], DAYS[3]


# -- names ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExampleTable:
    """A dataset of the lake; ``alias`` is its name in the catalog."""

    name: str
    columns: Mapping[str, str]
    namespace: str = LAKE
    alias: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def facets(self) -> Json:
        facets: Json = {
            "schema": _facet(
                "1-2-0/SchemaDatasetFacet", fields=[{"name": name, "type": kind} for name, kind in self.columns.items()]
            )
        }
        if self.alias is not None:
            identifiers = [{"namespace": CATALOG, "name": self.alias, "type": "TABLE"}]
            facets["symlinks"] = _facet("1-0-1/SymlinksDatasetFacet", identifiers=identifiers)
        return facets

    def described(self, about: str) -> Json:
        facets = self.facets() | {"documentation": _facet("1-1-0/DocumentationDatasetFacet", description=about)}
        if self.owner is not None:
            owners = [{"name": self.owner, "type": "OWNER"}]
            facets["ownership"] = _facet("1-0-1/OwnershipDatasetFacet", owners=owners)
        if self.tags:
            tags = [{"key": key, "value": value, "source": "USER"} for key, value in self.tags.items()]
            facets["tags"] = _facet("1-0-0/TagsDatasetFacet", tags=tags)
        return facets


RAW_ORDERS = ExampleTable(
    "raw/orders",
    dict.fromkeys(("order_id", "customer_id", "amount", "currency", "status", "ordered_at"), "string"),
    owner="team:checkout",
)
RAW_CUSTOMERS = ExampleTable(
    "raw/customers",
    {"customer_id": "bigint", "email": "string", "country": "string", "signed_up_at": "timestamp"},
    owner="team:crm",
    tags={"pii": "true"},
)
RAW_RATES = ExampleTable(
    "raw/fx_rates", {"day": "date", "currency": "string", "rate": "decimal(12,6)"}, owner="team:treasury"
)
ERP_RATES = ExampleTable("erp.public.fx_rates", {"day": "date", "currency": "text", "rate": "numeric"}, namespace=ERP)
ORDERS = ExampleTable(
    "silver/orders",
    {"order_id": "bigint", "customer_id": "bigint", "amount": "decimal(12,2)", "currency": "string", "day": "date"},
    alias="shop.orders",
    owner="team:data",
)
ENRICHED = ExampleTable(
    "silver/orders_enriched",
    {
        "order_id": "bigint",
        "customer_hash": "string",
        "country": "string",
        "amount": "decimal(12,2)",
        "currency": "string",
        "day": "date",
    },
    alias="shop.orders_enriched",
    owner="team:data",
)
REVENUE = ExampleTable(
    "gold/daily_revenue",
    {"day": "date", "country": "string", "orders": "bigint", "revenue": "decimal(18,2)"},
    alias="shop.daily_revenue",
    owner="team:finance",
    tags={"report": "true", "tier": "1"},
)
SCORES = ExampleTable("gold/churn_scores", {"customer_hash": "string", "score": "double"}, owner="team:marketing")


# -- what the jobs do to columns --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExampleSource:
    """A column is made of another: how, in what words, and whether the value is hidden on the way."""

    table: ExampleTable
    column: str
    subtype: str = "IDENTITY"
    logic: str = ""
    kind: str = "DIRECT"
    masking: bool = False

    def json(self) -> Json:
        how = {"type": self.kind, "subtype": self.subtype, "description": self.logic, "masking": self.masking}
        named = {"namespace": self.table.namespace, "name": self.table.name, "field": self.column}
        return named | {"transformations": [how]}


def _indirect(table: ExampleTable, column: str, subtype: str, logic: str) -> ExampleSource:
    return ExampleSource(table, column, subtype, logic, kind="INDIRECT")


CLEANING: Mapping[str, Sequence[ExampleSource]] = {
    "order_id": [ExampleSource(RAW_ORDERS, "order_id", "TRANSFORMATION", "cast(order_id as bigint)")],
    "customer_id": [ExampleSource(RAW_ORDERS, "customer_id", "TRANSFORMATION", "cast(customer_id as bigint)")],
    "amount": [ExampleSource(RAW_ORDERS, "amount", "TRANSFORMATION", "cast(amount as decimal(12,2))")],
    "currency": [ExampleSource(RAW_ORDERS, "currency", "TRANSFORMATION", "upper(trim(currency))")],
    "day": [ExampleSource(RAW_ORDERS, "ordered_at", "TRANSFORMATION", "to_date(ordered_at)")],
}
CLEANING_WHOLE = [_indirect(RAW_ORDERS, "status", "FILTER", "status <> 'cancelled'")]

ENRICHMENT: Mapping[str, Sequence[ExampleSource]] = {
    **{name: [ExampleSource(ORDERS, name)] for name in ("order_id", "amount", "currency", "day")},
    "country": [ExampleSource(RAW_CUSTOMERS, "country", "TRANSFORMATION", "coalesce(country, '??')")],
    "customer_hash": [ExampleSource(RAW_CUSTOMERS, "email", "TRANSFORMATION", "sha2(lower(email), 256)", masking=True)],
}
ENRICHMENT_WHOLE = [
    _indirect(ORDERS, "customer_id", "JOIN", "orders.customer_id = customers.customer_id"),
    _indirect(RAW_CUSTOMERS, "customer_id", "JOIN", "orders.customer_id = customers.customer_id"),
]

ADDING_UP: Mapping[str, Sequence[ExampleSource]] = {
    "day": [ExampleSource(ENRICHED, "day")],
    "country": [ExampleSource(ENRICHED, "country")],
    "orders": [ExampleSource(ENRICHED, "order_id", "AGGREGATION", "count(distinct order_id)")],
    "revenue": [ExampleSource(ENRICHED, "amount", "AGGREGATION", "sum(amount)")],
}
ADDING_UP_WHOLE = [
    _indirect(ENRICHED, "day", "GROUP_BY", "group by day, country"),
    _indirect(ENRICHED, "country", "GROUP_BY", "group by day, country"),
]
IN_EUROS = "sum(amount * coalesce(rate, 1))"
ADDING_UP_EUROS: Mapping[str, Sequence[ExampleSource]] = {
    **ADDING_UP,
    "revenue": [
        ExampleSource(ENRICHED, "amount", "AGGREGATION", IN_EUROS),
        ExampleSource(RAW_RATES, "rate", "AGGREGATION", IN_EUROS),
    ],
}
ADDING_UP_EUROS_WHOLE = [
    *ADDING_UP_WHOLE,
    _indirect(ENRICHED, "currency", "JOIN", "orders.currency = rates.currency and orders.day = rates.day"),
    _indirect(RAW_RATES, "currency", "JOIN", "orders.currency = rates.currency and orders.day = rates.day"),
]


def _column_lineage(fields: Mapping[str, Sequence[ExampleSource]], whole: Sequence[ExampleSource]) -> Json:
    return _facet(
        "1-2-0/ColumnLineageDatasetFacet",
        fields={name: {"inputFields": [source.json() for source in sources]} for name, sources in fields.items()},
        dataset=[source.json() for source in whole],
    )


# -- events -----------------------------------------------------------------------------------------------------------


@dataclass
class ExampleRun:
    """One run, reported by its START and its end."""

    namespace: str
    job: str
    day: datetime
    starts: datetime
    takes: timedelta
    attempt: int = 1
    parent: ExampleRun | None = None
    job_facets: Json = field(default_factory=dict)
    inputs: list[Json] = field(default_factory=list)
    outputs: list[Json] = field(default_factory=list)
    error: str | None = None

    @property
    def run_id(self) -> str:
        """A UUID of version 7, whose random part is not random: it is the same wherever this is run."""
        name = f"{self.namespace}/{self.job}/{self.day.date()}/{self.attempt}"
        noise = int.from_bytes(hashlib.sha256(name.encode()).digest()[:10])
        number = (int(self.starts.timestamp() * 1000) << 80) | noise
        number = number & ~(0xF << 76) | (7 << 76)
        return str(UUID(int=number & ~(0b11 << 62) | (0b10 << 62)))

    def events(self) -> Iterator[Json]:
        yield self._event("START", self.starts, {}, [], [])
        end = self.starts + self.takes
        if self.error is None:
            yield self._event("COMPLETE", end, {}, self.inputs, self.outputs)
        else:
            message = _facet("1-0-1/ErrorMessageRunFacet", message=self.error, programmingLanguage="PYTHON")
            yield self._event("FAIL", end, {"errorMessage": message}, self.inputs, self.outputs)

    def _event(self, kind: str, at: datetime, facets: Json, inputs: list[Json], outputs: list[Json]) -> Json:
        nominal = {"nominalStartTime": _time(self.day), "nominalEndTime": _time(self.day + timedelta(days=1))}
        run_facets = {"nominalTime": _facet("1-0-1/NominalTimeRunFacet", **nominal)}
        if self.parent is not None:
            job = {"namespace": self.parent.namespace, "name": self.parent.job}
            run_facets["parent"] = _facet("1-2-0/ParentRunFacet", run={"runId": self.parent.run_id}, job=job)
        return {
            "eventType": kind,
            "eventTime": _time(at),
            "run": {"runId": self.run_id, "facets": run_facets | facets},
            "job": {"namespace": self.namespace, "name": self.job, "facets": self.job_facets},
            "inputs": inputs,
            "outputs": outputs,
            "producer": PRODUCER,
            "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        }


def events() -> list[Json]:
    """In the order of their times."""
    made = [*_declarations(), *(event for day in DAYS for run in _runs_of(day) for event in run.events())]
    return sorted(made, key=lambda event: str(event["eventTime"]))


def _declarations() -> Iterator[Json]:
    at = FIRST_DAY - timedelta(hours=6)
    yield {
        "eventTime": _time(at),
        "job": {
            "namespace": "erp",
            "name": "export_fx_rates",
            "facets": {
                "documentation": _facet("1-1-0/DocumentationJobFacet", description="Nightly export, run by treasury."),
                "jobType": _facet("2-0-4/JobTypeJobFacet", processingType="BATCH", integration="MANUAL"),
            },
        },
        "inputs": [_input(ERP_RATES)],
        "outputs": [_output(RAW_RATES)],
        "producer": PRODUCER,
        "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/JobEvent",
    }
    for number, (table, about) in enumerate(
        (
            (RAW_ORDERS, "Orders as the shop writes them, a folder a day."),
            (RAW_CUSTOMERS, "Everybody who ever signed up."),
            (RAW_RATES, "Exchange rates to the euro."),
            (ORDERS, "Orders that were not cancelled, with proper types."),
            (ENRICHED, "Orders with the country of their customer."),
            (REVENUE, "Revenue by day and country. What the board looks at."),
            (SCORES, "How likely a customer is to leave."),
        ),
        1,
    ):
        dataset = {"namespace": table.namespace, "name": table.name, "facets": table.described(about)}
        yield {
            "eventTime": _time(at + timedelta(minutes=number)),
            "dataset": dataset,
            "producer": PRODUCER,
            "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        }


def _runs_of(day: datetime) -> Iterator[ExampleRun]:
    night = day + timedelta(days=1, hours=2)
    retried = day == FAILED_DAY
    whole = ExampleRun("airflow", "shop_daily", day, night, timedelta(minutes=75 if retried else 45))
    whole.job_facets = {"jobType": _job_type("AIRFLOW", "DAG")}
    yield whole
    yield _spark(
        "clean_orders",
        day,
        night + timedelta(minutes=1),
        whole,
        inputs=[_input(RAW_ORDERS, day)],
        output=_output(ORDERS, day, _column_lineage(CLEANING, CLEANING_WHOLE), rows=18_204),
    )
    enrich_at = night + timedelta(minutes=10)
    sources = [_input(ORDERS, day), _input(RAW_CUSTOMERS)]
    enriched = _output(ENRICHED, day, _column_lineage(ENRICHMENT, ENRICHMENT_WHOLE), rows=18_204)
    if retried:
        failed = _spark("enrich_orders", day, enrich_at, whole, inputs=sources, output=enriched)
        failed.error = "Job aborted: executor 3 lost (exit code 137, out of memory) while joining raw/customers"
        yield failed
        enrich_at += timedelta(minutes=30)
    attempt = 2 if retried else 1
    yield _spark("enrich_orders", day, enrich_at, whole, inputs=sources, output=enriched, attempt=attempt)
    changed = day == CHANGED_DAY
    columns = (ADDING_UP_EUROS, ADDING_UP_EUROS_WHOLE) if changed else (ADDING_UP, ADDING_UP_WHOLE)
    yield _spark(
        "daily_revenue",
        day,
        enrich_at + timedelta(minutes=10),
        whole,
        inputs=[_input(ENRICHED, day), *([_input(RAW_RATES)] if changed else [])],
        output=_output(REVENUE, day, _column_lineage(*columns), rows=31),
    )
    if changed:
        scoring = _spark(
            "score_churn",
            day,
            night + timedelta(minutes=30),
            whole,
            inputs=[_input(ENRICHED)],
            output=_output(SCORES, rows=96_331),
        )
        yield scoring
    dashboard = ExampleRun("bi", "revenue_dashboard", day, day + timedelta(days=1, hours=7), timedelta(seconds=4))
    dashboard.inputs = [_input(REVENUE, day)]
    yield dashboard


def _spark(
    job: str, day: datetime, starts: datetime, parent: ExampleRun, *, inputs: list[Json], output: Json, attempt: int = 1
) -> ExampleRun:
    seconds = 90 + int.from_bytes(hashlib.sha256(f"{job}{day.date()}{attempt}".encode()).digest()[:1])
    run = ExampleRun(
        namespace="shop",
        job=job,
        day=day,
        starts=starts,
        takes=timedelta(seconds=seconds),
        attempt=attempt,
        parent=parent,
        inputs=inputs,
        outputs=[output],
    )
    run.job_facets = {"jobType": _job_type("SPARK", "JOB")}
    return run


# -- pieces -----------------------------------------------------------------------------------------------------------


def _input(table: ExampleTable, day: datetime | None = None) -> Json:
    use: Json = {"namespace": table.namespace, "name": table.name, "facets": table.facets()}
    return use | ({"inputFacets": {"subset": _subset("input", day)}} if day else {})


def _output(
    table: ExampleTable, day: datetime | None = None, columns: Json | None = None, rows: int | None = None
) -> Json:
    facets = table.facets() | ({"columnLineage": columns} if columns else {})
    output_facets = {"subset": _subset("output", day)} if day else {}
    if rows is not None:
        output_facets["outputStatistics"] = _facet("1-0-2/OutputStatisticsOutputDatasetFacet", rowCount=rows)
    return {"namespace": table.namespace, "name": table.name, "facets": facets, "outputFacets": output_facets}


def _subset(side: str, day: datetime) -> Json:
    condition = {"type": "partition", "partitions": [{"dimensions": {"day": f"{day.date()}"}}]}
    definition = f"{side.title()}Subset{side.title()}DatasetFacet"
    return _facet("1-0-0/BaseSubsetDatasetFacet", definition, **{f"{side}Condition": condition})


def _job_type(integration: str, kind: str) -> Json:
    return _facet("2-0-4/JobTypeJobFacet", processingType="BATCH", integration=integration, jobType=kind)


def _facet(schema: str, definition: str | None = None, **content: object) -> Json:
    url = f"{SPEC}/facets/{schema}.json#/$defs/{definition or schema.split('/')[1]}"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def _time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def text() -> str:
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events())


if __name__ == "__main__":
    Path(__file__).with_name("orders.jsonl").write_text(text())
