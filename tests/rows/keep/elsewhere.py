"""Restores kept plans in a process of its own, which knows nothing but the facets.

python -m tests.rows.keep.elsewhere facets.json answers.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from headwater.rows.kept_queries.restore import restore
from tests.rows.keep.keeping import rows_of, run, trusted
from tests.support.spark import spark_application


def main(facets: Path, answers: Path) -> None:
    with TemporaryDirectory() as folder, spark_application(Path(folder)) as spark:
        restored = [restore(spark, trusted(facet), allow_python=True) for facet in json.loads(facets.read_text())]
        answers.write_text(json.dumps([rows_of(run(spark, each)) for each in restored]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
