"""What is read again is what was kept, from inputs as they were, and no code runs that the reader did not allow."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import shutil
import time
import zlib
from pathlib import Path
from typing import Any, cast

import pytest

from headwater.errors import InputsChanged, KeptPlanRefused, NotReplayable, PythonNotAllowed
from headwater.jvm import gateway_of
from headwater.rows.kept_queries.jvm import plan_classes
from tests.capture.telling import Json
from tests.rows.keep.keeping import Keeping, rows_of, run


@pytest.fixture
def facet(keeping: Keeping) -> Json:
    return keeping.frame(keeping.spark.sql("SELECT id, v FROM items WHERE k = 1"))


def with_bytes(facet: Json, changed: bytes) -> Json:
    """The same with other bytes, and with the digest of those."""
    forged = copy.deepcopy(facet)
    forged["plan"]["bytes"] = base64.b64encode(changed).decode()
    forged["plan"]["digest"] = f"sha256:{hashlib.sha256(changed).hexdigest()}"
    return forged


def stream_of(keeping: Keeping, value: Any) -> bytes:
    """A compressed Java stream of an object."""
    jvm: Any = keeping.spark._jvm
    out = jvm.java.io.ByteArrayOutputStream()
    stream = jvm.java.io.ObjectOutputStream(out)
    stream.writeObject(value)
    stream.close()
    return zlib.compress(bytes(out.toByteArray()))


class TestThePlan:
    def test_a_changed_byte(self, keeping: Keeping, facet: Json) -> None:
        changed = bytearray(base64.b64decode(facet["plan"]["bytes"]))
        changed[len(changed) // 2] ^= 1
        facet["plan"]["bytes"] = base64.b64encode(changed).decode()
        with pytest.raises(KeptPlanRefused, match="digest"):
            keeping.again(facet)

    @pytest.mark.parametrize(
        "foreign",
        [
            "java.io.File",
            "java.util.PriorityQueue",
            "java.util.LinkedHashMap",
            "java.util.concurrent.ConcurrentHashMap",
        ],
    )
    def test_a_foreign_class(self, keeping: Keeping, facet: Json, foreign: str) -> None:
        kind = keeping.spark._jvm.java.lang.Class.forName(foreign)  # type: ignore[union-attr]
        jvm: Any = keeping.spark._jvm
        value = jvm.java.io.File("/") if foreign == "java.io.File" else kind.getConstructor(None).newInstance(None)
        with pytest.raises(KeptPlanRefused, match=f"it holds {foreign}"):
            keeping.again(with_bytes(facet, stream_of(keeping, value)))

    def test_a_foreign_class_within_what_is_allowed(self, keeping: Keeping, facet: Json) -> None:
        jvm: Any = keeping.spark._jvm
        holder = jvm.java.util.ArrayList()
        holder.add(jvm.java.net.URL("http://127.0.0.1/"))
        with pytest.raises(KeptPlanRefused, match=r"it holds java\.net\.URL"):
            keeping.again(with_bytes(facet, stream_of(keeping, holder)))

    def test_a_node_that_does_not_come_as_a_part(self, keeping: Keeping, facet: Json) -> None:
        node = cast(Any, keeping.spark.range(1))._jdf.queryExecution().analyzed()
        with pytest.raises(KeptPlanRefused, match=r"it holds org\.apache\.spark\.sql\.catalyst\.plans\.logical\.Range"):
            keeping.again(with_bytes(facet, stream_of(keeping, node)))

    @pytest.mark.parametrize(
        ("known", "other"),
        [
            ("catalyst.expressions.EqualTo", "catalyst.expressions.CallMethodViaReflection"),
            ("catalyst.plans.logical.Filter", "execution.command.ClearCacheCommand$"),
            ("catalyst.plans.logical.Filter", "execution.FilterExec"),
        ],
    )
    def test_a_node_that_no_query_has(self, keeping: Keeping, facet: Json, known: str, other: str) -> None:
        """What would call whatever it names, a command, a physical operator: put where another node was."""
        names = [f"org.apache.spark.sql.{name}".encode() for name in (known, other)]
        before, after = (len(name).to_bytes(2, "big") + name for name in names)
        stream = zlib.decompress(base64.b64decode(facet["plan"]["bytes"]))
        assert stream.count(before) == 1
        with pytest.raises(KeptPlanRefused, match=other.rsplit(".", 1)[1].rstrip("$")):
            keeping.again(with_bytes(facet, zlib.compress(stream.replace(before, after))))

    def test_something_that_is_no_plan(self, keeping: Keeping, facet: Json) -> None:
        for nonsense in (b"", b"nonsense", zlib.compress(b"nonsense"), stream_of(keeping, "a text")):
            with pytest.raises(KeptPlanRefused):
                keeping.again(with_bytes(facet, nonsense))

    def test_too_much(self, keeping: Keeping, facet: Json) -> None:
        """A small stream that says it holds a large array is refused before there is one."""
        header = bytes.fromhex("aced0005 75 72 0002 5b42 acf317f8060854e0 02 0000 78 70 7fffffff".replace(" ", ""))
        with pytest.raises(KeptPlanRefused, match="larger than a plan may be"):
            keeping.again(with_bytes(facet, zlib.compress(header)))

    def test_another_spark(self, keeping: Keeping, facet: Json) -> None:
        facet["spark"] = "2.4.8"
        with pytest.raises(NotReplayable, match=r"it ran on Spark 2\.4\.8"):
            keeping.again(facet)

    def test_what_is_needed_is_named(self, keeping: Keeping) -> None:
        with pytest.raises(NotReplayable, match="made in the program"):
            keeping.again(keeping.frame(keeping.spark.createDataFrame([(1,)], "n int")))

    def test_other_sources_than_the_plan_has(self, keeping: Keeping, facet: Json) -> None:
        facet["sources"] *= 2
        with pytest.raises(KeptPlanRefused, match="2 sources are recorded"):
            keeping.again(facet)


class TestPython:
    def functions(self, keeping: Keeping) -> Json:
        import pandas as pd
        from pyspark.sql import functions as F
        from pyspark.sql.pandas.functions import pandas_udf

        step = 100
        plus = F.udf(lambda n: n + step, "long")

        def halved(values: pd.Series) -> pd.Series:
            return values / 2

        halved.__annotations__ = {"values": pd.Series, "return": pd.Series}  # what pyspark decides by: not texts
        frame = keeping.spark.table("items").select(
            plus("id").alias("p"),
            pandas_udf(halved, "double")("v").alias("h"),  # type: ignore[call-overload]
        )
        self.expected = rows_of(frame)
        return keeping.frame(frame)

    def test_is_refused_unless_it_is_allowed(self, keeping: Keeping) -> None:
        facet = self.functions(keeping)
        assert facet["replayable"]
        assert set(facet["plan"]["python"]) == {"<lambda>", "halved"}
        with pytest.raises(PythonNotAllowed, match=r"<lambda>, halved|halved, <lambda>"):
            keeping.again(facet)
        assert rows_of(run(keeping.spark, keeping.again(facet, allow_python=True))) == self.expected

    def test_is_refused_also_where_the_facet_conceals_it(self, keeping: Keeping) -> None:
        facet = self.functions(keeping)
        facet["plan"]["python"] = []
        with pytest.raises(KeptPlanRefused, match="SimplePythonFunction"):
            keeping.again(facet)

    def test_frames_in_pandas(self, keeping: Keeping) -> None:
        frame = keeping.spark.table("items").groupBy("k").applyInPandas(lambda part: part.head(1)[["k"]], "k long")
        expected = rows_of(frame)
        facet = keeping.frame(frame)
        assert rows_of(run(keeping.spark, keeping.again(facet, allow_python=True))) == expected

    def test_the_environment_does_not_travel(self, keeping: Keeping) -> None:
        environment = keeping.spark.sparkContext.environment
        environment["MY_PASSWORD"] = "hidden-in-the-environment"
        try:
            facet = self.functions(keeping)
        finally:
            del environment["MY_PASSWORD"]
        stream = zlib.decompress(base64.b64decode(facet["plan"]["bytes"]))
        assert b"hidden-in-the-environment" not in stream

    def test_another_python(self, keeping: Keeping) -> None:
        facet = self.functions(keeping)
        facet["plan"]["pythonVersion"] = "2.7"
        with pytest.raises(NotReplayable, match=r"Python 2\.7"):
            keeping.again(facet, allow_python=True)


class TestTheInputs:
    @pytest.fixture
    def source(self, keeping: Keeping, data: Path, tmp_path: Path) -> Path:
        shutil.copytree(data / "items", tmp_path / "source")
        return tmp_path / "source"

    @pytest.fixture
    def facet(self, keeping: Keeping, source: Path) -> Json:
        self.frame = keeping.spark.read.parquet(str(source))
        self.before = rows_of(self.frame)
        return keeping.frame(self.frame)

    def test_a_file_that_was_added_is_no_change(self, keeping: Keeping, source: Path, facet: Json) -> None:
        shutil.copy(next(source.glob("part-*")), source / "part-99999-new.parquet")
        assert rows_of(run(keeping.spark, keeping.again(facet))) == self.before

    def test_a_file_that_is_gone(self, keeping: Keeping, source: Path, facet: Json) -> None:
        gone = next(source.glob("part-*"))
        gone.unlink()
        with pytest.raises(InputsChanged, match=f"{gone.name} is gone$") as refused:
            keeping.again(facet)
        assert refused.value.count == 1

    def test_a_file_of_another_size(self, keeping: Keeping, source: Path, facet: Json) -> None:
        file = next(source.glob("part-*"))
        size = file.stat().st_size
        file.write_bytes(file.read_bytes() + b" ")
        with pytest.raises(InputsChanged, match=f"{file.name} has {size + 1:,} bytes, not {size:,}"):
            keeping.again(facet)

    def test_a_file_that_was_written_again(self, keeping: Keeping, source: Path, facet: Json) -> None:
        file = next(source.glob("part-*"))
        os.utime(file, (time.time() + 5, time.time() + 5))
        with pytest.raises(InputsChanged, match=f"{file.name} was changed at "):
            keeping.again(facet)

    def test_many_changes_are_counted(self, keeping: Keeping, tmp_path: Path) -> None:
        keeping.spark.range(24).repartition(12).write.parquet(f"{tmp_path}/many")
        facet = keeping.frame(keeping.spark.read.parquet(f"{tmp_path}/many"))
        shutil.rmtree(tmp_path / "many")
        with pytest.raises(InputsChanged, match="; and 2 more") as refused:
            keeping.again(facet)
        assert (len(refused.value.changes), refused.value.count) == (10, 12)


def test_a_plan_too_large_is_said_to_be(keeping: Keeping) -> None:
    classes = plan_classes(gateway_of(keeping.spark.sparkContext))
    frame: Any = keeping.spark.table("items").where("k = 1")
    command = _command(keeping, frame)
    for limits, pattern in (((1, 2**20, 10), "operators; up to 1"), ((100, 100, 10), "more bytes")):
        assert pattern in json.loads(classes.new("KeptPlan", command, None, *limits).describe())["problem"]


def _command(keeping: Keeping, frame: Any) -> Any:
    """Some command with a query, as Spark itself makes it."""
    jvm: Any = keeping.spark._jvm
    kind = jvm.java.lang.Class.forName("org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand")
    maker = kind.getConstructors()[0]
    given: Any = gateway_of(keeping.spark.sparkContext).new_array(jvm.java.lang.Object, maker.getParameterCount())
    given[0] = frame._jdf.queryExecution().analyzed()
    return maker.newInstance(given)
