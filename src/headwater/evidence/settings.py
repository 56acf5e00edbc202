"""Spark settings that a result may depend on: the SQL settings that were set explicitly."""

from __future__ import annotations

import re
from collections.abc import Mapping

TIME_ZONE = "spark.sql.session.timeZone"
_SQL = "spark.sql."
_OF_THE_MACHINE = re.compile(
    r"\.(dir|path|paths|location|checkpointLocation|jars|url|uri|user|password|principal|keytab|token)$"
    r"|^spark\.sql\.(warehouse|ui|event|artifact|debug|redaction|catalog|extensions|queryExecutionListeners|streaming"
    r"|thriftServer|hive\.(metastore|thriftServer)|execution\.(id|root\.id)|queryContext|log)\b"
    r"|^spark\.sql\..*(Listeners?|redaction|stringRedaction|maxToStringFields|explainMode|metadataCacheTTLSeconds"
    r"|\.progress\w*|[cC]acheSize|[tT]imeout)\b"
)
"""Settings that differ between machines, times and reports, and do not change results."""
_A_PLACE = re.compile(r"(file:)?/|[a-z][a-z0-9+.-]*://", re.I)


def relevant_settings(application: Mapping[str, str], session: Mapping[str, str], time_zone: str) -> dict[str, str]:
    """``application`` was set for all sessions, ``session`` for the one that ran the write. The time zone changes
    results whether it was set or not."""
    settings = {
        name: str(value)
        for name, value in {**application, **session}.items()
        if name.startswith(_SQL) and not _OF_THE_MACHINE.search(name) and not _A_PLACE.match(str(value))
    }
    return {TIME_ZONE: time_zone, **settings}
