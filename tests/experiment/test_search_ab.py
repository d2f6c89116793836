"""A made-up search experiment from rows to page: where the new ranking wins, what the guards say, what triggers do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankstats.cli.main import main
from rankstats.report.blocks import Figure, Paragraph, Table
from rankstats.report.drawings import Forest
from rankstats.report.model import page_model
from tests.experiment.search_ab import ASKED, DAYS, DEPTH, USERS, search_experiment, write

THINNED = 20_000


def read(folder: Path, users: int) -> dict[str, Any]:
    events, assignments = write(folder, users)
    out = folder / "out"
    arguments = ["ab", str(events), "--assignments", str(assignments), *ASKED, "--quiet", "--out", str(out)]
    assert main(arguments) == 0
    found: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return read(tmp_path_factory.mktemp("search"), THINNED)


def effect(report: dict[str, Any], measure: str, segment: str | None = None) -> dict[str, Any]:
    return next(
        row
        for row in report["differences"]
        if row["measure"] == measure and (row["segment"] or {"value": None})["value"] == segment
    )


def width(interval: dict[str, Any]) -> float:
    return float(interval["high"] - interval["low"])


def check_what_the_report_says(report: dict[str, Any]) -> None:
    claim, trigger = effect(report, "clicks per user"), report["experiment"]["trigger"][0]
    assert report["verdict"][0]["outcome"] == "better"
    assert [guard["outcome"] for guard in report["experiment"]["guards"]] == ["holds", "holds"]
    for measure in ("clicks per user", "RR per query"):
        assert effect(report, measure, "long")["interval"]["low"] > 0
        assert effect(report, measure, "short")["difference"] < effect(report, measure, "long")["difference"] / 2
    by_length = next(
        row for row in report["heterogeneity"] if (row["measure"], row["attribute"]) == ("RR per query", "first_query")
    )
    assert by_length["p_value"] < (0.1 if claim["n"] < USERS else 1e-6)
    assert {row["outcome"] for row in report["experiment"]["checks"]} == {"ok"}
    assert len(report["experiment"]["days"]) == DAYS
    assert claim["variance_reduction"] > 0.05
    assert trigger["difference"] > claim["difference"]
    assert trigger["untriggered_p"] > 0.01
    assert width(trigger["diluted_interval"]) < 0.8 * width(claim["interval"])
    assert trigger["diluted"] == pytest.approx(trigger["share"] * trigger["difference"], rel=1e-12)
    low, high = (claim["interval"][end] for end in ("low", "high"))
    assert low < trigger["diluted"] < high


def test_the_new_ranking_wins_on_long_queries_guards_hold_and_the_trigger_sharpens(report: dict[str, Any]) -> None:
    check_what_the_report_says(report)


def test_means_are_those_of_the_rows(report: dict[str, Any]) -> None:
    events, assignments = search_experiment(THINNED)
    new = dict(zip(assignments["user"].tolist(), (assignments["arm"] == "new").tolist(), strict=True))
    inside = np.array([new[user] for user in events["user"].tolist()])
    for measure, top, bottom in (
        ("CTR", "clicks", "results"),
        ("RR per query", "rr", None),
        ("quick returns", "quick_returns", "clicks"),
    ):
        row = effect(report, measure)
        for mask, mean in ((~inside, row["mean_baseline"]), (inside, row["mean_system"])):
            below = mask.sum() if bottom is None else events[bottom][mask].sum()
            assert mean == pytest.approx(events[top][mask].sum() / below, rel=1e-9)


def test_the_reciprocal_rank_of_the_first_click_is_the_measure_of_that_name() -> None:
    from rankstats import evaluate  # noqa: PLC0415  only here

    events, _ = search_experiment(50)
    first = events["first_click"].tolist()
    run = {f"q{i}": {f"d{rank:02d}": float(DEPTH - rank) for rank in range(1, DEPTH + 1)} for i in range(len(first))}
    clicked = {f"q{i}": {f"d{rank:02d}": 1} for i, rank in enumerate(first) if rank}
    scores = evaluate(clicked, {"log": {query: docs for query, docs in run.items() if query in clicked}}, ["RR"])
    expected = {f"q{i}": value for i, value in enumerate(events["rr"].tolist()) if value > 0}
    values = dict(zip(scores.query_ids, np.asarray(scores.values).ravel().tolist(), strict=True))
    assert values == pytest.approx(expected)


def test_the_length_of_later_queries_is_refused_as_a_segment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, assignments = write(tmp_path, 300)
    arguments = ["ab", str(events), "--assignments", str(assignments), "--unit", "user", "--metric", "clicks"]
    assert main([*arguments, "--segment", "query_length", "--out", str(tmp_path / "out")]) == 2
    assert "'query_length' changes between the rows" in capsys.readouterr().err


def test_first_screen_and_sections_show_it(report: dict[str, Any]) -> None:
    page = page_model(report)
    notices = " ".join(notice.message for notice in page.notices)
    assert "Guard “p95 latency” holds" in notices
    assert "of the units are triggered" in notices
    tables = {}
    for section in page.sections:
        for block in section.blocks:
            table = block.table if isinstance(block, Figure) else block
            if isinstance(table, Table):
                tables[table.key] = table
    assert tables["trigger"].rows[0][0].text == "clicks per user"
    assert "new against current" in tables["trigger"].caption
    # CTR is no mean over units: what its effect makes over all of them is not known
    at = [column.label for column in tables["trigger"].columns].index("effect over all units")
    assert [row[at].text == "—" for row in tables["trigger"].rows][:2] == [False, True]
    assert [bool(row[at].note) for row in tables["trigger"].rows][:2] == [True, False]
    assert len(tables["days-1-table"].rows) == DAYS
    days = next(b for s in page.sections for b in s.blocks if isinstance(b, Figure) and b.key == "days-1")
    # clicks of a day and clicks of the whole period are two quantities: no line for the days to lie round
    assert isinstance(days.drawing, Forest)
    assert (days.drawing.rows[0].name, days.drawing.reference) == ("whole period, per unit, not adjusted", None)
    remarks = " ".join(b.text for s in page.sections for b in s.blocks if isinstance(b, Paragraph))
    assert "so it is no mean of the days" in remarks


def test_the_effect_on_the_triggered_is_said_to_be_adjusted(report: dict[str, Any]) -> None:
    page = page_model(report)
    told = next(notice.message for notice in page.notices if "are triggered" in notice.message)
    assert "adjusted for past_clicks and spread over all units" in told
    table = next(b for s in page.sections for b in s.blocks if isinstance(b, Table) and b.key == "trigger")
    at = [column.label for column in table.columns].index("difference")
    assert [row[at].note for row in table.rows][:2] == ["adjusted", ""]
    assert "adjusted for past_clicks; without it" in page.statements[0].details[1]


def test_a_difference_where_no_effect_can_be_is_no_loss_by_segment(report: dict[str, Any]) -> None:
    made = json.loads(json.dumps(report))
    for row in made["differences"]:
        if row["segment"]:
            row["p_adjusted"] = 1.0
    row = next(r for r in made["differences"] if r["measure"] == "CTR" and r["segment"]
               and r["segment"]["value"] == "not triggered")  # fmt: skip
    row |= {"p_adjusted": 0.016, "difference": -0.01}
    said = next(b.text for s in page_model(made).sections for b in s.blocks
                if isinstance(b, Paragraph) and b.text.startswith("On the other metrics"))  # fmt: skip
    assert said.startswith("On the other metrics, no segment is shown worse.")
    assert "Where no effect can be, the arms differ: CTR on not triggered (−0.0100, adjusted p = .016)" in said


@pytest.mark.slow
def test_the_full_size_says_the_same(tmp_path: Path) -> None:
    report = read(tmp_path, USERS)
    check_what_the_report_says(report)
    assert sum(row["n"] for row in report["experiment"]["units"]) == USERS
