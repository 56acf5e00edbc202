"""The words of the project: names are nouns and verbs of their field, and texts are plain English.

Each check has a list of what is still to be renamed, by file. These lists may only shrink: an entry that is no longer
needed fails the test, so that it is removed with the name.
"""

from __future__ import annotations

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import typer.main

from headwater.cli.app import app
from tests.cli.running import commands

PACKAGE = Path(__file__).parents[1] / "src" / "headwater"
DOCS = Path(__file__).parents[1] / "docs"

PARTICIPLES = {
    *("told", "said", "found", "kept", "given", "held", "asked", "taken", "shown", "known", "heard", "seen", "meant"),
    *("gone", "left", "lost", "stated", "handed", "borrowed", "lent", "looked", "called"),
}
"""Past participles that name nothing on their own: `found` what, `told` what?"""

BARE_PARTICIPLES: dict[str, set[str]] = {
    "capture/delivery/runs.py": {"_KEPT"},
    "capture/delivery/targets.py": {"_shown"},
    "capture/delivery/unsent.py": {"_left"},
    "capture/events/output_quality.py": {"Asked"},
    "capturing.py": {"_Borrowed"},
    "cli/render/records/querying.py": {"_shown"},
    "engines/conditions.py": {"_told"},
    "engines/duckdb.py": {"Kept"},
    "evidence/fan_out.py": {"_told"},
    "evidence/merging.py": {"Told"},
    "evidence/run_evidence.py": {"_shown"},
    "formats/openlineage/visibility.py": {"_GONE", "_left", "_told"},
    "formats/provenance.py": {"told"},
    "formats/wia/checks.py": {"_shown"},
    "formats/wia/events.py": {"Kept", "Said", "_kept", "_said"},
    "model/items.py": {"_known"},
    "model/quality.py": {"_told"},
    "model/records.py": {"Taken"},
    "pipeline/items/accounts.py": {"_shown"},
    "pipeline/items/expansion.py": {"_Seen"},
    "pipeline/items/general_path.py": {"_CALLED"},
    "pipeline/items/item_records.py": {"_Told"},
    "pipeline/run/function_outputs.py": {"Kept"},
    "pipeline/worker/failed_rows.py": {"GIVEN"},
    "pipeline/worker/outcomes.py": {"_taken", "told"},
    "plan/flow.py": {"Lost", "Said"},
    "plan/operators/family.py": {"said"},
    "plan/types.py": {"_STATED"},
    "records/compaction/hadoop_fs.py": {"Found"},
    "records/compaction/result.py": {"told"},
    "records/executor/file_totals.py": {"_told"},
    "records/intake/worker.py": {"_Lost"},
    "records/query/spark_views.py": {"_SHOWN", "_shown"},
    "records/query/sql.py": {"_SHOWN"},
    "records/tracing/big_roots.py": {"_SAID", "_held", "_told"},
    "records/tracing/graph.py": {"_held"},
    "rows/backward.py": {"Found", "_lost"},
    "rows/grouped_calls.py": {"_called"},
    "rows/render.py": {"told"},
    "rows/why_not_path.py": {"Said", "Shown", "_said"},
    "rows/why_not_reasons.py": {"_shown"},
    "store/engine/database.py": {"_shown"},
    "store/exchange/staging.py": {"_SAID"},
    "store/exchange/versions.py": {"_SAID"},
    "store/fold/entities.py": {"Asked", "_asked"},
    "store/fold/ingest.py": {"_KNOWN"},
    "store/fold/repeats.py": {"Said"},
    "store/fold/versions.py": {"_said"},
    "store/log/checkpoints.py": {"_told"},
    "store/log/visible_entries.py": {"_seen"},
    "store/query/counts.py": {"_stated"},
    "store/query/lookup.py": {"_seen"},
    "store/query/overview.py": {"_SHOWN"},
    "store/query/picture/cards.py": {"_seen"},
    "store/query/picture/column_links.py": {"_told"},
    "store/query/provenance/stated.py": {"Found", "stated"},
    "store/query/quality.py": {"Told", "_stated"},
    "store/query/versions.py": {"_said", "_seen"},
    "store/records/archive.py": {"known"},
    "store/records/evidence.py": {"Told"},
    "store/store.py": {"_said"},
}
"""By file: module-level names and classes that are still bare participles."""

SHARED_CLASS_NAMES: dict[str, set[str]] = {
    "Account": {"evidence/ledger.py", "pipeline/items/accounts.py"},
    "Balance": {"formats/openlineage/claims/balance.py", "pipeline/run/evidence.py"},
    "CaptureKey": {"capture/events/signing.py", "model/capture_keys.py"},
    "Change": {"evidence/casts.py", "model/answers.py"},
    "Column": {"model/names.py", "plan/relation.py"},
    "Context": {"model/provenance.py", "plan/context.py"},
    "Counts": {"capture/delivery/forwarder.py", "checks/measuring.py", "model/pages.py"},
    "Database": {"capture/naming/jdbc.py", "store/engine/database.py"},
    "Execution": {"capture/listener/observer.py", "pipeline/run/execution.py"},
    "Field": {"formats/wia/elements.py", "model/answers.py", "plan/flow.py"},
    "Flow": {"formats/openlineage/flows.py", "model/pages.py"},
    "Found": {"records/compaction/hadoop_fs.py", "rows/backward.py", "store/query/provenance/stated.py"},
    "Graph": {"records/tracing/graph.py", "store/fold/graph.py"},
    "Input": {"capture/events/inputs.py", "pipeline/items/pairing.py"},
    "Journal": {"capture/delivery/journal.py", "pipeline/items/item_log.py"},
    "JsonlSink": {"capture/delivery/jsonl.py", "pipeline/sinks/files.py"},
    "Kept": {"engines/duckdb.py", "formats/wia/events.py", "pipeline/run/function_outputs.py"},
    "Kind": {"capture/delivery/frames.py", "formats/wia/elements.py", "plan/flow.py"},
    "Layout": {"pipeline/worker/columns.py", "rows/pairs/layout.py"},
    "Leaf": {"pipeline/items/leaves.py", "plan/flow.py"},
    "Letters": {"pipeline/dead_letters/waiting.py", "records/intake/refused_lines.py"},
    "Line": {"cli/records/lines.py", "pipeline/items/item_log.py"},
    "Link": {"model/picture.py", "rows/provenance.py"},
    "Message": {"capture/listener/jvm/__init__.py", "store/records/queue.py"},
    "Node": {"model/answers.py", "pipeline/declare/nodes.py", "plan/tree.py"},
    "OpenRuns": {"capture/delivery/runs.py", "capture/listener/named_runs.py"},
    "Origin": {"capture/events/plan_cuts.py", "model/lineage.py"},
    "Outcome": {"capture/events/run_types.py", "model/items.py", "store/fold/repeats.py"},
    "OutputColumn": {"plan/lineage.py", "rows/provenance.py"},
    "Part": {"evidence/run_evidence.py", "plan/flow.py", "rows/answer.py"},
    "Pipeline": {"pipeline/declare/pipeline.py", "pipelines.py"},
    "Place": {"capture/naming/dataset_ref.py", "records/compaction/hadoop_fs.py"},
    "Progress": {"model/tasks.py", "pipeline/run/progress.py"},
    "Provenance": {"model/provenance.py", "rows/provenance.py"},
    "Reach": {"pipeline/items/item_locations.py", "store/query/traverse.py"},
    "Read": {"checks/naming.py", "store/fold/writes.py"},
    "Reason": {"model/items.py", "rows/why_not_reasons.py"},
    "Rows": {"pipeline/worker/rows.py", "records/query/sql.py"},
    "Said": {"plan/flow.py", "rows/why_not_path.py"},
    "Scope": {"model/access.py", "plan/relation.py", "store/exchange/scope.py"},
    "Shape": {"pipeline/worker/columns.py", "redaction/shapes.py"},
    "Sink": {"capture/delivery/sink.py", "pipeline/declare/nodes.py"},
    "Source": {"formats/openlineage/flows.py", "pipeline/declare/nodes.py", "plan/lineage.py", "rows/provenance.py"},
    "Step": {"evidence/steps.py", "plan/flow.py", "rows/why_not_path.py", "store/query/traverse.py"},
    "Steps": {"evidence/steps.py", "rows/backward.py"},
    "Tally": {"evidence/files.py", "records/intake/worker.py"},
    "Told": {"store/query/quality.py", "store/records/evidence.py"},
    "Versions": {"store/exchange/versions.py", "store/fold/named_rows.py", "store/fold/versions.py"},
    "Way": {"model/askable.py", "pipeline/items/accounts.py"},
    "Writer": {"records/compaction/writing.py", "store/fold/writes.py"},
    "Written": {"capture/events/writes.py", "rows/pairs/write.py"},
    "_Kind": {"pipeline/items/stored_records.py", "store/fold/intervals.py"},
    "_Reader": {"capture/naming/queries.py", "formats/graphml.py", "formats/openlineage/event.py"},
    "_Way": {"checking.py", "rows/why_not.py"},
}
"""By class name: the files that still define it, more than one."""

OLD_PHRASES = (
    *("unless told", "so many", "whoever", "otherwise than", "is had", "let go", "told of", "is told", "are told"),
    *(
        "as it stands",
        "again for more",
        "come again",
        "speak of",
        "speaks of",
        "taken in",
        "takes in",
        "no longer good",
    ),
    *("in the words of", "brought along", "heard of", "nobody in particular"),
)
"""Phrases of the old dialect, in lower case. They have no place in help, messages or documentation."""

HELP_WITH_OLD_PHRASES: dict[str, set[str]] = {
    "cli/records/compact.py": {"unless told"},
    "cli/records/work.py": {"so many"},
}
"""By the file of a command: the phrases that its help still has."""

PAGES_WITH_OLD_PHRASES: dict[str, set[str]] = {
    "records.md": {"let go", "taken in", "unless told", "whoever"},
}
"""By page: the phrases that it still has."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        yield str(file.relative_to(PACKAGE)), ast.parse(file.read_text(encoding="utf-8"))


def top_level_names(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def is_bare_participle(name: str) -> bool:
    return name.strip("_").lower() in PARTICIPLES


def phrases_in(text: str) -> set[str]:
    words = " ".join(text.lower().split())
    return {phrase for phrase in OLD_PHRASES if phrase in words}


def compare(found: dict[str, set[str]], allowed: dict[str, set[str]]) -> str:
    """Name what is new and what has gone; empty if the list is exact."""
    lines = []
    for key in sorted(found.keys() | allowed.keys()):
        new, gone = found.get(key, set()) - allowed.get(key, set()), allowed.get(key, set()) - found.get(key, set())
        if new:
            lines.append(f"{key}: rename {', '.join(sorted(new))}")
        if gone:
            lines.append(f"{key}: remove {', '.join(sorted(gone))} from the list of exceptions")
    return "\n".join(lines)


def test_names_are_not_bare_participles() -> None:
    found = {
        file: names
        for file, module in modules()
        if (names := {name for name in top_level_names(module) if is_bare_participle(name)})
    }
    assert compare(found, BARE_PARTICIPLES) == ""


def test_a_class_name_means_one_thing() -> None:
    files: defaultdict[str, set[str]] = defaultdict(set)
    for file, module in modules():
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                files[node.name].add(file)
    shared = {name: where for name, where in files.items() if len(where) > 1}
    assert compare(shared, SHARED_CLASS_NAMES) == ""


def test_help_has_no_phrase_of_the_old_dialect() -> None:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for _, command in commands():
        file = str(Path(inspect.unwrap(command.callback).__code__.co_filename).relative_to(PACKAGE))
        texts = [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]
        found[file] |= {phrase for text in texts if text for phrase in phrases_in(text)}
    root = typer.main.get_command(app)
    assert not phrases_in(f"{root.help} {root.epilog}")
    assert compare({file: phrases for file, phrases in found.items() if phrases}, HELP_WITH_OLD_PHRASES) == ""


def test_pages_have_no_phrase_of_the_old_dialect() -> None:
    pages = [*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md")]
    assert len(pages) > 20
    found = {str(page.relative_to(DOCS)): phrases_in(page.read_text(encoding="utf-8")) for page in pages}
    assert compare({page: phrases for page, phrases in found.items() if phrases}, PAGES_WITH_OLD_PHRASES) == ""


def test_errors_have_no_phrase_of_the_old_dialect() -> None:
    module = ast.parse((PACKAGE / "errors.py").read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert len(texts) > 100
    assert {phrase for text in texts for phrase in phrases_in(text)} == set()
