"""The run that started this application: an orchestrator states it in the environment or in Spark's configuration.

The names are those that Airflow's OpenLineage provider and the OpenLineage Spark agent use: a DAG that passes its run
to them passes it to Headwater as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.capture.events.run_types import ParentRun


def parent_of_application(conf: Mapping[str, str], environment: Mapping[str, str]) -> ParentRun | None:
    """``conf`` is Spark's configuration, which takes precedence over the environment."""
    root = _from_conf(conf, "root") or _from_text(environment.get("OPENLINEAGE_ROOT_PARENT_ID"))
    parent = _from_conf(conf, "") or _from_text(environment.get("OPENLINEAGE_PARENT_ID"))
    if parent is None:
        return None
    return ParentRun(parent.namespace, parent.job, parent.run_id, root)


def _from_conf(conf: Mapping[str, str], role: str) -> ParentRun | None:
    prefix = f"spark.openlineage.{role}{'Parent' if role else 'parent'}"
    namespace, job, run_id = (conf.get(f"{prefix}{key}", "") for key in ("JobNamespace", "JobName", "RunId"))
    return ParentRun(namespace, job, run_id) if namespace and job and run_id else None


def _from_text(text: str | None) -> ParentRun | None:
    """`namespace/job/run id`; the namespace may hold slashes of its own."""
    if not text:
        return None
    namespace, _, rest = text.rpartition("/")[0].rpartition("/")
    run_id = text.rpartition("/")[2]
    return ParentRun(namespace, rest, run_id) if namespace and rest and run_id else None
