"""One session of Spark in local mode: the same hits and readouts as in memory, and one shuffle a step."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import rankstats
from rankstats import InputError, Policies
from rankstats.experiment import explain_experiment, read_out
from rankstats.experiment.lazy_units import LazyUnitQuery
from rankstats.tables import make_hits
from tests.experiment.test_engine_rows import ASKED, made
from tests.experiment.test_summaries import assert_same
from tests.shared import shared
from tests.tables.engines.made import assert_same_hits, engine_hits, held, table_of
from tests.tables.made import DOCUMENTS, Row, judgments_of, ranking_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of Spark's own use of pandas and of its sockets
]

SCORES = (-1.0, -0.0, 0.0, 0.5, 1.0, 1.0 + 1e-9, 1e300, -1e300)


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    sql = pytest.importorskip("pyspark.sql", reason="the extra 'spark' is not installed")
    builder = sql.SparkSession.builder.master("local[2]").appName("rankstats")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        # rows this few are done before code for them is compiled
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    yield started
    started.stop()


def collection() -> tuple[dict[str, dict[str, float]], list[Row], list[float]]:
    generator = random.Random(3)
    documents = [*DOCUMENTS, *(f"d{n}" for n in range(20))]
    grades = {
        f"q{q}": {doc: float(generator.randrange(-1, 4)) for doc in generator.sample(documents, 8)} for q in range(12)
    }
    rows = [(f"q{q}", doc, generator.choice(SCORES)) for q in range(2, 14) for doc in generator.sample(documents, 15)]
    generator.shuffle(rows)
    counted: dict[str, int] = {}
    ranks = []
    for query_id, _, _ in rows:
        counted[query_id] = counted.get(query_id, 0) + 1
        ranks.append(float(counted[query_id]))
    return grades, rows, ranks


def test_the_same_hits_as_in_memory(session: Any) -> None:
    grades, rows, ranks = collection()
    judgments = judgments_of(grades)
    frame = session.createDataFrame(table_of(rows, ranks))
    run = ranking_of(rows, ranks)
    ranking = held(frame)
    for reverse in (False, True):
        expected = make_hits(judgments, run, Policies(), depth=3, reverse_ties=reverse)
        assert_same_hits(engine_hits(judgments, ranking, Policies(), depth=3, reverse_ties=reverse), expected)
    by_rank = Policies(ties="rank")
    assert_same_hits(engine_hits(judgments, held(frame), by_rank), make_hits(judgments, run, by_rank))


def test_a_table_gives_the_same_values_as_in_memory(session: Any) -> None:
    grades, rows, _ = collection()
    session.createDataFrame(table_of(rows)).createOrReplaceTempView("run")
    policies, measures = Policies(ties="float32"), ["nDCG@10", "AP"]
    values = rankstats.evaluate(grades, {"new": session.table("run")}, measures, policies=policies).values
    in_memory = rankstats.evaluate(grades, {"new": table_of(rows)}, measures, policies=policies).values
    np.testing.assert_array_equal(values, in_memory)


def test_a_document_that_is_listed_twice(session: Any) -> None:
    frame = session.createDataFrame(table_of([("q", "a", 1.0), ("q", "a", 0.5)]))
    with pytest.raises(InputError, match="document 'a' is listed twice for query 'q'"):
        engine_hits(judgments_of({"q": {"a": 1.0}}), held(frame), Policies())


def test_what_spark_cannot_read_ends_in_one_message(session: Any, tmp_path: Any) -> None:
    pq.write_table(table_of([("q", "a", 1.0)] * 1000), tmp_path / "part.parquet")
    frame = session.read.parquet(str(tmp_path))
    (tmp_path / "part.parquet").write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(InputError, match="Spark failed"):
        engine_hits(judgments_of({"q": {"a": 1.0}}), held(frame), Policies())


def test_each_step_is_one_shuffle(session: Any) -> None:
    grades, rows, _ = collection()
    plans = rankstats.explain(grades, {"new": session.createDataFrame(table_of(rows))}, ["AP"])
    steps = plans.split("== new in Spark: ")[1:]
    assert len(steps) == 3
    for step in steps:
        assert step.count("Exchange hashpartitioning") == 1
        assert step.count("Exchange") == 1 + step.count("BroadcastExchange")
    assert steps[2].count(" Sort ") == 1


# ── experiments ───────────────────────────────────────────────────────────────────────────────────────────────────────

BY_COUNTRY = replace(ASKED, segments=("country",))


@pytest.fixture
def nothing_but_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let neither rows nor units leave the engine."""

    def refused(*given: Any) -> Any:
        assert not isinstance(nw.from_native(given[0], pass_through=True), nw.LazyFrame)
        assert not isinstance(given[0], LazyUnitQuery)

    monkeypatch.setattr("rankstats.inputs.row_tables.arrow_table", refused)
    monkeypatch.setattr(LazyUnitQuery, "collect_units", refused)


@pytest.mark.usefixtures("nothing_but_sums")
def test_the_same_readout_as_in_memory(session: Any) -> None:
    rows = [{**row, "arm": {"A": "it's \\A", "B": "B"}[row["arm"]]} for row in made()]
    rows[0]["revenue"] = 9e4  # one unit carries the mean, and it is named
    table = pa.Table.from_pylist(rows)
    found, expected = read_out(BY_COUNTRY, rows=session.createDataFrame(table)), read_out(BY_COUNTRY, rows=rows)
    assert_same(found, expected)
    assert found.audit == expected.audit
    assert [warning.message for warning in found.warnings] == [warning.message for warning in expected.warnings]


@pytest.mark.usefixtures("nothing_but_sums")
def test_cookie_cats_in_spark(session: Any) -> None:
    path = str(shared("data/ab/cookie-cats") / "cookie_cats.csv.gz")
    frame = session.createDataFrame(pa.csv.read_csv(path))
    metrics = ["retention_7", "retention_1", "sum_gamerounds"]
    found, expected = (rankstats.readout(rows, metrics, unit="userid") for rows in (frame, path))
    assert_same(found, expected)


def test_units_come_out_of_spark_where_sums_are_not_enough(session: Any) -> None:
    rows = made()
    metric = replace(ASKED.metrics[0], winsorise=0.9)
    asked = replace(BY_COUNTRY, metrics=(metric,))
    assert_same(read_out(asked, rows=session.createDataFrame(pa.Table.from_pylist(rows))), read_out(asked, rows=rows))


def test_each_step_of_an_experiment_is_one_shuffle(session: Any) -> None:
    plans = explain_experiment(BY_COUNTRY, session.createDataFrame(pa.Table.from_pylist(made())))
    cells, units, sums = plans.split("== rows in Spark: ")[1:]
    assert cells.count("Exchange") == cells.count("Exchange SinglePartition") == 1
    assert units.count("Exchange") == units.count("Exchange hashpartitioning(u") == 1
    # the units are kept; a run does not make them again
    assert sums.count("Exchange") == 2
    assert sums.count("Exchange hashpartitioning(u") == sums.count("Exchange hashpartitioning(arm") == 1
