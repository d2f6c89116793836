"""The page of an experiment: units instead of queries, guards, caps, days, looks, and a verdict that is withheld."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from rankstats.experiment import metric_from_text
from rankstats.report.blocks import Figure, Table
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.terminal import render_terminal
from tests.experiment.made import readout, units


def report(**changes: Any) -> dict[str, Any]:
    rows = [{**row, "when": f"2024-05-0{1 + i % 5}"} for i, row in enumerate(units())]
    metrics = (
        replace(metric_from_text("revenue"), role="primary", covariate=("past",)),
        replace(metric_from_text("paid"), role="guard", margin=0.2),
        replace(metric_from_text("capped = mean(revenue)"), winsorise=0.95),
    )
    return readout(rows, **{"metrics": metrics, "segments": ("country",), "time": "when", **changes}).to_dict()


def section(made: dict[str, Any]) -> Any:
    return next(section for section in page_model(made).sections if section.key == "experiment")


def tables(made: dict[str, Any]) -> dict[str, Table]:
    found = {}
    for section in page_model(made).sections:
        for block in section.blocks:
            table = block.table if isinstance(block, Figure) else block
            if isinstance(table, Table):
                found[table.key] = table
    return found


def test_guards_caps_and_days_stand_on_the_page_with_the_numbers_of_the_report() -> None:
    made = report()
    found = tables(made)
    guard = made["experiment"]["guards"][0]
    assert [cell.text for cell in found["guards"].rows[0][:2]] == ["paid", guard["outcome"]]
    assert guard["outcome"] == "holds"
    assert (found["guards"].rows[0][1].mark, found["guards"].rows[0][1].tone) == ("✓", "")
    assert "B against A" in found["guards"].caption
    assert found["caps"].rows[0][2].text == f"{made['experiment']['caps'][0]['cap']:g}"
    assert [row[0].text for row in found["days-1-table"].rows] == [day["day"] for day in made["experiment"]["days"]]
    hows = [row[1].text for row in found["beside"].rows]
    assert any(text.startswith("with past, variance") for text in hows)
    assert {"without covariates", "not winsorised"} <= set(hows)


def test_the_effect_stands_beside_itself_without_covariates_and_days_are_measured_against_that_one() -> None:
    made = report()
    row = made["differences"][0]
    raw = next(other for other in row["also"] if other["test"] == "without covariates")
    means = {score["system"]: score["mean"] for score in made["scores"] if score["measure"] == row["measure"]
             and score["segment"] is None}  # fmt: skip
    assert raw["difference"] == pytest.approx(means["B"] - means["A"])
    assert raw["difference"] != pytest.approx(row["difference"], abs=1e-4)
    shown = next(cells for cells in tables(made)["beside"].rows if cells[1].text == "without covariates")
    assert shown[2].text == f"{raw['difference']:+.2f}"
    days = next(block for block in section(made).blocks if isinstance(block, Figure) and block.key == "days-1")
    assert days.drawing.reference == raw["difference"]
    assert [line.name for line in days.drawing.rows][:1] == ["all days, not adjusted"]
    # an interval of a day may leave out zero: it is no verdict that the sign is not settled
    assert {line.tone for line in days.drawing.rows[1:]} == {"not-tested"}
    assert days.drawing.key.startswith("• not tested".replace(" ", "\N{NO-BREAK SPACE}"))
    assert days.drawing.rows[0].value == raw["difference"] == made["experiment"]["days"][-1]["difference_to_date"]


def test_the_statement_has_the_two_values_and_quotes_a_name_of_several_words() -> None:
    found = page_model(readout(units(), "went back = share(paid)").to_dict())
    means = {score.system: score.mean for score in readout(units(), "went back = share(paid)").scores
             if score.segment is None}  # fmt: skip
    assert "on “went back”" in found.statements[0].headline
    numbers = re.match(r"([\d.]+)\s% against ([\d.]+)\s%, ([+−][\d.]+)\spoints", found.statements[0].details[1])
    assert numbers is not None
    b, a, points = (float(text.replace("−", "-")) for text in numbers.groups())
    assert (b, a) == pytest.approx((100 * means["B"], 100 * means["A"]), abs=0.6)
    assert points == pytest.approx(100 * (means["B"] - means["A"]), abs=0.6)


def test_what_stands_beside_the_claims_is_not_repeated_in_method() -> None:
    made = report()
    assert made["differences"][0]["also"]
    assert "also" not in tables(made)
    assert "Fisher's exact test" in [
        row[0].text for row in tables(readout(units(), "share(paid)").to_dict())["also"].rows
    ]


def test_the_heading_names_what_is_there() -> None:
    assert section(report()).heading == "Guards, adjustment and days"
    rows = units()
    rows[17] |= {"revenue": 4000.0}
    assert section(readout(rows, "revenue").to_dict()).heading == "Without the largest unit"
    assert "experiment" not in {part.key for part in page_model(readout(units(), "revenue").to_dict()).sections}


def test_shares_of_units_are_as_exact_as_the_check_of_them() -> None:
    made = readout(units(401), "revenue").to_dict()
    found = tables(made)
    for cells, unit in zip(found["units"].rows, made["experiment"]["units"], strict=True):
        assert cells[2].text == f"{100 * unit['n'] / 401:.2f}\N{NO-BREAK SPACE}%"
    assert "counts" not in found
    assert "checks" not in found
    assert (found["evidence-checks"].caption, found["evidence-checks"].folded) == ("Checks of the experiment", False)


def test_every_renderer_speaks_of_units() -> None:
    made = report()
    for text in (render_html(made).split('id="query-data"')[0], render_markdown(made), render_terminal(made)):
        assert "400 units" in text or "n = 400" in text
    body = render_markdown(made) + render_terminal(made)
    assert "queries" not in body
    assert "query" not in body


def test_a_withheld_verdict_is_not_shown_as_a_plain_one() -> None:
    rows = [row for row in units(1000) if row["arm"] == "A"] + [row for row in units(1000) if row["arm"] == "B"][:200]
    made = readout(rows, "revenue").to_dict()
    page = page_model(made)
    assert page.statements[0].headline.endswith(" is withheld")
    assert page.statements[0].details[0].startswith("The arms' sizes do not fit the design")
    assert page.notices[0].severity == "serious"
    assert render_terminal(made).startswith("The verdict on revenue for B against A is withheld")


def test_the_bound_of_a_look_is_named() -> None:
    made = report(looks=(0.5, 1.0), look=1)
    page = render_html(made)
    assert "obrien-fleming spending" in page
    assert f"{made['experiment']['design']['bound']:.4f} standard errors" in page


def test_other_reports_have_no_such_section() -> None:
    from tests.report.sample import sample_report  # noqa: PLC0415  only here

    assert "experiment" not in {section.key for section in page_model(sample_report()).sections}
