"""Rows that an engine holds give the same readout as rows in memory, and only units or sums leave the engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import duckdb
import narwhals as nw
import polars as pl
import pyarrow as pa
import pytest

import rankstats
from rankstats.errors import InputError, PlanError
from rankstats.experiment import (
    ExperimentSettings,
    Readout,
    explain_experiment,
    metric_from_text,
    read_out,
    summarise_experiment,
    summary_text,
)
from rankstats.experiment.reading import _Reader
from rankstats.inputs.row_tables import RowTables
from rankstats.tables.engines.memory import machine_memory
from tests.experiment.made import Rows, events, units
from tests.experiment.test_summaries import assert_same, content
from tests.shared import shared

ASKED = ExperimentSettings(
    unit="user",
    control="B",
    metrics=(
        replace(metric_from_text("revenue"), role="primary", covariate=("past",)),
        replace(metric_from_text("ctr = sum(clicks)/sum(impressions)"), role="primary", margin=0.01),
        metric_from_text("rows = sum(clicks)/count(*)"),
        replace(metric_from_text("paid = share(paid)"), role="guard", margin=0.05),
    ),
    segments=("country", "country+arm"),
)


def made() -> Rows:
    rows = events(units(300))
    rows[4]["arm"] = "A" if rows[4]["arm"] == "B" else "B"  # a unit in two arms, if it has several rows
    for place in (7, 20, 33):
        rows[place]["revenue"] = None if place != 33 else float("nan")
    for row in rows:
        row["past"] = None if row["user"] in ("u00003", "u00004") else row["past"]
        row["country"] = None if row["user"] == "u00009" else row["country"]
        row["paid"] = bool(row["paid"])
    return rows


def relation(table: pa.Table) -> Any:
    return duckdb.from_arrow(table)


def lazy(table: pa.Table) -> Any:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy()


FRAMES = [pytest.param(relation, id="duckdb"), pytest.param(lazy, id="polars")]
Frame = Callable[[pa.Table], Any]


@pytest.fixture
def no_rows_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing read a lazy frame into memory as it is."""

    def refused(data: Any, name: str) -> Any:
        assert not isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)

    monkeypatch.setattr("rankstats.inputs.row_tables.arrow_table", refused)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.usefixtures("no_rows_collected")
def test_the_same_readout_as_in_memory(frame: Frame) -> None:
    rows = made()
    asked = replace(ASKED, segments=("country",))
    found, expected = read_out(asked, rows=frame(pa.Table.from_pylist(rows))), read_out(asked, rows=rows)
    assert_same(found, expected)
    assert found.audit == expected.audit
    assert [warning.message for warning in found.warnings] == [warning.message for warning in expected.warnings]
    assert len(found.reproduction["inputs"][0]["sha256"]) == 64


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.usefixtures("no_rows_collected")
def test_units_in_memory_where_sums_are_not_enough(frame: Frame) -> None:
    rows = [{**row, "age": int(row["user"][1:]) % 50} for row in events(units(200))]
    metric = replace(metric_from_text("revenue"), role="primary", winsorise=0.95, covariate=("past",))
    asked = replace(ASKED, metrics=(metric,), segments=("age:q3",))
    assert_same(read_out(asked, rows=frame(pa.Table.from_pylist(rows))), read_out(asked, rows=rows))


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.usefixtures("no_rows_collected")
def test_a_frame_for_every_arm(frame: Frame) -> None:
    rows = [{key: cell for key, cell in row.items() if key != "arm"} | {"of": row["arm"]} for row in events(units(200))]
    by_arm = {arm: [row for row in rows if row["of"] == arm] for arm in "BA"}
    asked = replace(ASKED, segments=("country",))
    connection = duckdb.connect()
    frames = {
        arm: connection.from_arrow(pa.Table.from_pylist(part))
        if frame is relation
        else frame(pa.Table.from_pylist(part))
        for arm, part in by_arm.items()
    }
    assert_same(read_out(asked, rows=frames), read_out(asked, rows=by_arm))


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.usefixtures("no_rows_collected")
def test_a_summary_made_in_an_engine_is_that_of_the_rows(frame: Frame) -> None:
    rows = [{**row, "revenue": round(row["revenue"])} for row in events(units(100))]
    asked = replace(ASKED, segments=("country",))
    options: Any = {"resamples": 20, "seed": 4}
    found = summarise_experiment(asked, rows=frame(pa.Table.from_pylist(rows)), **options)
    assert content(found) == content(summarise_experiment(asked, rows=rows, **options))


def test_what_needs_the_rows_themselves_is_read() -> None:
    rows = events(units(200))
    asked = replace(ASKED, metrics=(replace(metric_from_text("quantile(revenue, 0.5)"), role="primary"),), segments=())
    assert_same(read_out(asked, rows=lazy(pa.Table.from_pylist(rows))), read_out(asked, rows=rows))
    with pytest.raises(PlanError, match="no engine adds up these rows"):
        explain_experiment(asked, lazy(pa.Table.from_pylist(rows)))


def test_large_and_small_numbers_are_added_up_the_same_way() -> None:
    rows = [
        {"user": f"u{i // 3}", "arm": "AB"[i // 3 % 2], "x": (1e9 + 0.1 * i) if i % 7 else 1e-9 * i}
        for i in range(3000)
    ]
    for arm in "AB":
        rows.append({"user": f"odd{arm}", "arm": arm, "x": -0.5})
    asked = replace(ASKED, metrics=(replace(metric_from_text("x"), role="primary"),), segments=())
    expected = read_out(asked, rows=rows)
    for frame in (relation, lazy):
        for order in (rows, rows[::-1]):
            found = read_out(asked, rows=frame(pa.Table.from_pylist(order)))
            assert_same(found, expected)
    assert read_out(asked, rows=lazy(pa.Table.from_pylist(rows))).differences == found.differences


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"user": None}, r"1 row with no unit; leave them out, or name their unit \(column user\)"),
        ({"arm": " "}, r"1 row with no arm"),
        ({"clicks": float("inf")}, r"1 row with a number that is infinite .*\(column clicks\)"),
        ({"country": "xx"}, "segment 'country' changes between the rows of 1 units"),
        ({"past": -1.0}, "covariate 'past' changes between the rows of 1 units"),
    ],
)
def test_rows_that_cannot_be_used(frame: Frame, changes: dict[str, Any], message: str) -> None:
    rows = [{**row, "clicks": float(row["clicks"])} for row in events(units(60))]
    several = next(place for place, row in enumerate(rows) if sum(row["user"] == other["user"] for other in rows) > 1)
    rows[several] |= changes
    with pytest.raises((InputError, PlanError), match=message):
        read_out(replace(ASKED, segments=("country",)), rows=frame(pa.Table.from_pylist(rows)))


def test_a_column_that_is_not_there() -> None:
    frame = lazy(pa.Table.from_pylist(events(units(20))))
    with pytest.raises(InputError, match=r"metric 'revenu': 'revenu' is no column .* did you mean 'revenue'"):
        rankstats.readout(frame, "revenu", unit="user")


@pytest.mark.parametrize("frame", FRAMES)
def test_the_plan_is_shown_and_nothing_is_run(frame: Frame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankstats.tables.engines.adapters.Engine.collect", None)
    plans = explain_experiment(replace(ASKED, segments=("country",)), frame(pa.Table.from_pylist(made())))
    assert [line.partition(": ")[2] for line in plans.splitlines() if line.startswith("==")] == [
        "what the cells hold",
        "rows to units",
    ]
    grouping = r"hash.group.by" if frame is relation else r"AGGREGATE"
    assert len(re.findall(grouping, plans, re.IGNORECASE)) == 1


def test_units_in_memory_and_their_sums_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = replace(ASKED, segments=("country",))
    by_sums = read_out(asked, rows=made())
    monkeypatch.setattr(_Reader, "_by_unit_sums", lambda self, columns: None)
    in_memory = read_out(asked, rows=made())
    assert_same(by_sums, in_memory)
    assert by_sums.audit == in_memory.audit


def test_summaries_of_batches_are_those_of_all_units(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{**row, "when": f"2024-05-0{1 + place % 3}T10:00:00"} for place, row in enumerate(made())]
    capped = replace(metric_from_text("clicks"), winsorise=0.9)
    asked = replace(ASKED, metrics=(*ASKED.metrics, capped), segments=("country",), time="when")
    options: Any = {"resamples": 10, "seed": 2}
    whole = summary_text(summarise_experiment(asked, rows=rows, **options))
    monkeypatch.setattr("rankstats.experiment.unit_batches.UNITS_AT_ONCE", 70)
    assert summary_text(summarise_experiment(asked, rows=rows, **options)) == whole


def test_events_in_parts_make_the_same_units(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = replace(ASKED, segments=("country",))
    whole: Readout = read_out(asked, rows=made())
    statements: list[str] = []
    run = RowTables.run
    monkeypatch.setattr("rankstats.experiment.unit_query.BYTES_KEPT", machine_memory() // 200)

    def noted(self: RowTables, sql: str, name: str) -> Any:
        statements.append(sql)
        return run(self, sql, name)

    monkeypatch.setattr(RowTables, "run", noted)
    assert read_out(asked, rows=made()).differences == whole.differences
    assert sum(sql.startswith("INSERT INTO summed") for sql in statements) > 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["duckdb", "polars"])
@pytest.mark.usefixtures("no_rows_collected")
def test_cookie_cats_from_every_engine(kind: str) -> None:
    path = str(shared("data/ab/cookie-cats") / "cookie_cats.csv.gz")
    asked: Any = {"unit": "userid", "arm": "version", "primary": "retention_7"}
    metrics = ["retention_7", "retention_1", "sum_gamerounds"]
    table = pa.csv.read_csv(path)
    expected = rankstats.readout(path, metrics, **{**asked, "arm": _arm_of(table)})
    found = rankstats.readout(
        relation(table) if kind == "duckdb" else lazy(table), metrics, **asked | {"arm": _arm_of(table)}
    )
    assert_same(found, expected)


def _arm_of(table: pa.Table) -> str:
    return next(str(name) for name in table.column_names if "version" in name)
