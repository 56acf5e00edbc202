"""Routes of runs and their evidence."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headwater.formats.openlineage.facet_names import LEDGER_FACET, MANIFEST_FACET
from headwater.model.answers import RunDetail, RunDiff
from headwater.model.certificates import Certificate
from headwater.model.log import VerifiedRun
from headwater.model.runs import OutputFacet, Run
from headwater.server.app.document_schemas import BUNDLE, FACET, array_of, closed_object
from headwater.server.app.openapi_schemas import file_responses, json_responses, page_of, schema_of
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, Reader, Service
from headwater.server.routes.parameters import (
    Cursor,
    Limit,
    Moment,
    NamespaceParameter,
    Segment,
    State,
    Text,
    dataset_reference,
)
from headwater.store.store import Store

router = APIRouter(tags=["Runs"])
_FACET = json_responses(FACET, 200, 400, 404)
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@router.get("/runs", responses=json_responses(page_of(Run), 200, 400, 404, 409, 422))
async def runs(
    service: CurrentService,
    who: Reader,
    job: Text = None,
    namespace: Text = None,
    state: State = None,
    dataset: Text = None,
    dataset_namespace: NamespaceParameter = None,
    since: Moment = None,
    until: Moment = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> Response:
    """Runs, newest first. `dataset` selects those that read or wrote it."""
    pages = service.store_for(who).pages
    result = await service.call(
        pages.runs,
        job=job,
        namespace=namespace,
        state=state,
        dataset=dataset_reference(dataset, dataset_namespace) if dataset is not None else None,
        since=since,
        until=until,
        cursor=cursor,
        limit=limit,
    )
    return JsonResponse(result)


@router.get("/runs/{run_id:name}", responses=json_responses(schema_of(RunDetail), 200, 400, 404))
async def run(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """One run: its facets, inputs and outputs, edges, children and certificates."""
    return await service.respond(service.store_for(who).run, run_id)


@router.get("/runs/{run_a:name}/diff/{run_b:name}", responses=json_responses(schema_of(RunDiff), 200, 400, 404))
async def diff(service: CurrentService, who: Reader, run_a: Segment, run_b: Segment) -> Response:
    """How the second run differs from the first."""
    return await service.respond(service.store_for(who).diff, run_a, run_b)


@router.get("/runs/{run_id:name}/ledger", responses=_FACET)
async def ledger(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """The ledger of the run: how many of the rows it read were processed, filtered out or in error."""
    return await _facet(service, service.store_for(who), run_id, LEDGER_FACET, "ledger")


@router.get("/runs/{run_id:name}/manifest", responses=_FACET)
async def manifest(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """The manifest of the run: hashes of its inputs and outputs."""
    return await _facet(service, service.store_for(who), run_id, MANIFEST_FACET, "manifest")


async def _facet(service: Service, store: Store, run_id: str, name: str, word: str) -> Response:
    result: object = (await service.call(store.run, run_id)).run_facets.get(name)
    if not isinstance(result, dict):
        raise HttpProblem(404, f"no_{word}", f"The run has no {word} ({name}).")
    return JsonResponse(result)


@router.get("/runs/{run_id:name}/certificate", responses=json_responses(schema_of(Certificate), 200, 400, 404))
async def certificate(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """The newest certificate of the run."""
    store = service.store_for(who)
    await service.call(store.run, run_id)
    result = await service.call(store.certificates, run_id=run_id, limit=1)
    if not result:
        raise HttpProblem(404, "no_certificate", "No certificate was issued for the run.")
    return JsonResponse(result[0])


@router.get(
    "/certificates", responses=json_responses(closed_object(items=array_of(schema_of(Certificate))), 200, 400, 422)
)
async def certificates(
    service: CurrentService, who: Reader, namespace: Text = None, run: Text = None, limit: Limit = 100
) -> Response:
    """Certificates, newest first: of a namespace, of a run, or all."""
    certificates = service.store_for(who).certificates
    return JsonResponse({"items": await service.call(certificates, namespace=namespace, run_id=run, limit=limit)})


@router.get(
    "/output-facets",
    responses=json_responses(closed_object(items=array_of(schema_of(OutputFacet))), 200, 400, 404, 409, 422),
)
async def output_facets(
    service: CurrentService, who: Reader, facet: Annotated[str, Query(max_length=10_000)], dataset: Text = None,
    namespace: NamespaceParameter = None, run: Text = None, limit: Limit = 100,
) -> Response:  # fmt: skip
    """One facet of the datasets that completed runs wrote, newest first."""
    about = dataset_reference(dataset, namespace) if dataset is not None else None
    output_facets = service.store_for(who).output_facets
    return JsonResponse({"items": await service.call(output_facets, facet, dataset=about, run_id=run, limit=limit)})


@router.get("/runs/{run_id:name}/verified", responses=json_responses(schema_of(VerifiedRun), 200, 400, 404, 409))
async def verified(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """Verify the events and certificates of the run: the response says what holds, a problem what does not."""
    return await service.respond(service.store_for(who).verify_run, run_id)


@router.get("/runs/{run_id:name}/bundle", responses=json_responses(BUNDLE, 200, 400, 404, 409))
async def bundle(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """The evidence of the run as one file, which `headwater verify FILE` verifies without this store."""
    content = await service.call(service.store_for(who).bundle, run_id)
    return Response(content, media_type="application/json", headers=_attachment_headers("run.bundle.json"))


@router.get(
    "/runs/{run_id:name}/report", response_class=Response, responses=file_responses(["text/html"], 400, 404)
)  # fmt: skip
async def report(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """The assurance report of the run as one HTML page: intent, logic, proof."""
    text = await service.call(_report, service.store_for(who), run_id)
    return Response(text, media_type="text/html", headers={"Content-Security-Policy": _REPORT_POLICY})


def _report(store: Store, run_id: str) -> str:
    from headwater.assurance.report.gather import gather_report
    from headwater.assurance.report.page import page

    return page(gather_report(store, run_id))


def _attachment_headers(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
