"""What ran, and what it left as evidence."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from headwater.formats.openlineage.fidelity import LEDGER, MANIFEST
from headwater.model.answers import RunDetail, RunDiff
from headwater.model.certificates import Certificate
from headwater.model.log import VerifiedRun
from headwater.model.runs import OutputFacet, Run
from headwater.server.app.document_schemas import BUNDLE, FACET, closed, listed
from headwater.server.app.openapi_schemas import answers, answers_text, page_of, schema_of
from headwater.server.app.problems import Problem
from headwater.server.app.responses import Json
from headwater.server.app.service import Reader, Service, Serving
from headwater.server.routes.asking import Cursor, Limit, Moment, NamespaceParameter, Segment, State, Text, named
from headwater.store.store import Store

router = APIRouter(tags=["Runs"])
_FACET = answers(FACET, 200, 400, 404)
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@router.get("/runs", responses=answers(page_of(Run), 200, 400, 404, 409, 422))
async def runs(
    serving: Serving, who: Reader, job: Text = None, namespace: Text = None, state: State = None, dataset: Text = None,
    dataset_namespace: NamespaceParameter = None, since: Moment = None, until: Moment = None, cursor: Cursor = None,
    limit: Limit = 100,
) -> Response:  # fmt: skip
    """Runs, the newest first. `dataset` finds those that read or wrote it."""
    pages = serving.seen_by(who).pages
    found = await serving.ask(
        pages.runs,
        job=job,
        namespace=namespace,
        state=state,
        dataset=named(dataset, dataset_namespace) if dataset is not None else None,
        since=since,
        until=until,
        cursor=cursor,
        limit=limit,
    )
    return Json(found)


@router.get("/runs/{run_id:name}", responses=answers(schema_of(RunDetail), 200, 400, 404))
async def run(serving: Serving, who: Reader, run_id: Segment) -> Response:
    """One run: its facets, inputs and outputs, edges, children and certificates."""
    return await serving.answer(serving.seen_by(who).run, run_id)


@router.get("/runs/{run_a:name}/diff/{run_b:name}", responses=answers(schema_of(RunDiff), 200, 400, 404))
async def diff(serving: Serving, who: Reader, run_a: Segment, run_b: Segment) -> Response:
    """What the second run did otherwise than the first."""
    return await serving.answer(serving.seen_by(who).diff, run_a, run_b)


@router.get("/runs/{run_id:name}/ledger", responses=_FACET)
async def ledger(serving: Serving, who: Reader, run_id: Segment) -> Response:
    """What became of the rows that the run read, counted."""
    return await _facet(serving, serving.seen_by(who), run_id, LEDGER, "ledger")


@router.get("/runs/{run_id:name}/manifest", responses=_FACET)
async def manifest(serving: Serving, who: Reader, run_id: Segment) -> Response:
    """What the run read and wrote, in hashes."""
    return await _facet(serving, serving.seen_by(who), run_id, MANIFEST, "manifest")


async def _facet(serving: Service, store: Store, run_id: str, name: str, word: str) -> Response:
    found: Any = (await serving.ask(store.run, run_id)).run_facets.get(name)
    if not isinstance(found, dict):
        raise Problem(404, f"no_{word}", f"The run has no {word} ({name}).")
    return Json(found)


@router.get("/runs/{run_id:name}/certificate", responses=answers(schema_of(Certificate), 200, 400, 404))
async def certificate(serving: Serving, who: Reader, run_id: Segment) -> Response:
    """The newest certificate of the run."""
    store = serving.seen_by(who)
    await serving.ask(store.run, run_id)
    found = await serving.ask(store.certificates, run_id=run_id, limit=1)
    if not found:
        raise Problem(404, "no_certificate", "No certificate was issued for the run.")
    return Json(found[0])


@router.get("/certificates", responses=answers(closed(items=listed(schema_of(Certificate))), 200, 400, 422))
async def certificates(
    serving: Serving, who: Reader, namespace: Text = None, run: Text = None, limit: Limit = 100
) -> Response:
    """Certificates, the newest first: of a namespace, of a run, or all."""
    ask = serving.seen_by(who).certificates
    return Json({"items": await serving.ask(ask, namespace=namespace, run_id=run, limit=limit)})


@router.get("/output-facets", responses=answers(closed(items=listed(schema_of(OutputFacet))), 200, 400, 404, 409, 422))
async def output_facets(
    serving: Serving, who: Reader, facet: Annotated[str, Query(max_length=10_000)], dataset: Text = None,
    namespace: NamespaceParameter = None, run: Text = None, limit: Limit = 100,
) -> Response:  # fmt: skip
    """One facet of the datasets that completed runs wrote, the newest first."""
    about = named(dataset, namespace) if dataset is not None else None
    ask = serving.seen_by(who).output_facets
    return Json({"items": await serving.ask(ask, facet, dataset=about, run_id=run, limit=limit)})


@router.get("/runs/{run_id:name}/verified", responses=answers(schema_of(VerifiedRun), 200, 400, 404, 409))
async def verified(serving: Serving, who: Reader, run_id: Segment) -> Response:
    """The run's events and certificates recomputed: the answer is what holds, a problem what does not."""
    return await serving.answer(serving.seen_by(who).verify_run, run_id)


@router.get("/runs/{run_id:name}/bundle", responses=answers(BUNDLE, 200, 400, 404, 409))
async def bundle(serving: Serving, who: Reader, run_id: Segment) -> Response:
    """The evidence of the run as one file, which `headwater verify FILE` checks without this store."""
    content = await serving.ask(serving.seen_by(who).bundle, run_id)
    return Response(content, media_type="application/json", headers=_attached("run.bundle.json"))


@router.get(
    "/runs/{run_id:name}/report", response_class=Response, responses=answers_text(["text/html"], 400, 404)
)  # fmt: skip
async def report(serving: Serving, who: Reader, run_id: Segment) -> Response:
    """What is proven of the run as one page: intent, logic, proof."""
    text = await serving.ask(_report, serving.seen_by(who), run_id)
    return Response(text, media_type="text/html", headers={"Content-Security-Policy": _REPORT_POLICY})


def _report(store: Store, run_id: str) -> str:
    from headwater.assurance.report.gather import gather
    from headwater.assurance.report.page import page

    return page(gather(store, run_id))


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
