"""The page of an interleaving log: its own words, the same numbers everywhere, withheld verdicts, several rankers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rankstats.report.blocks import Figure, Table
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.terminal import render_terminal
from tests.interleaving.made import log, page_rows, readout


def report(**changes: Any) -> dict[str, Any]:
    return readout(log(300, 120), **{"segments": ["device"], **changes}).to_dict()


def section(made: dict[str, Any]) -> Any:
    return next(section for section in page_model(made).sections if section.key == "interleaving")


def tables(made: dict[str, Any]) -> dict[str, Table]:
    found = {}
    for section in page_model(made).sections:
        for block in section.blocks:
            table = block.table if isinstance(block, Figure) else block
            if isinstance(table, Table):
                found[table.key] = table
    return found


def test_wins_levels_and_sides_stand_on_the_page_with_the_numbers_of_the_report() -> None:
    made = report()
    found, row, pair = tables(made), made["differences"][0], made["interleaving"]["pairs"][0]
    assert [cell.text for cell in found["wins"].rows[0][1:4]] == [
        f"{row[name]:,}" for name in ("wins", "ties", "losses")
    ]
    share, mean = found["wins"].rows[0][4].text, next(cells for cells in found["means"].rows if cells[0].text == "new")
    assert share == mean[1].text
    assert float(share) == pytest.approx(row["win_share"], abs=0.005)
    bars = next(block for block in section(made).blocks if isinstance(block, Figure))
    assert [(bar.better, bar.equal, bar.worse) for bar in bars.drawing.rows] == [
        (row["wins"], row["ties"], row["losses"])
    ]
    assert "outcomes" not in {part.key for part in page_model(made).sections}
    assert [cells[0].text for cells in found["levels"].rows] == [
        "whole units flipped",
        "whole queries flipped",
        "impressions flipped",
        "sign test of impressions without ties",
    ]
    assert found["levels"].rows[0][0].note == "the verdict rests on it"
    assert found["logged"].rows[0][1].text == f"{pair['impressions']:,}"
    assert {cells[0].text: cells[1].text for cells in found["counts"].rows}[
        "impressions with clicks"
    ] == f"{row['n']:,}"


def test_the_statement_has_the_two_shares_that_the_difference_is_of() -> None:
    page = page_model(report())
    assert page.facts == ("300 impressions", "2 rankers", "2 measures")
    statement = page.statements[0]
    assert statement.headline.startswith("new is better than prod on win share by +0.")
    assert re.search(r"impressions with clicks of \d+ units", statement.details[0])
    assert re.search(r"win share 0\.\d+ against 0\.\d+ · \d+ impressions won, \d+ tied", statement.details[1])
    shares = [float(text) for text in re.findall(r"0\.\d+", statement.details[1].partition(" · ")[0])]
    size = re.search(r"by \+(0\.\d+)", statement.headline)
    assert size is not None
    assert shares[0] - shares[1] == pytest.approx(float(size[1]), abs=0.011)


def test_impressions_without_clicks_are_not_said_to_be_counted() -> None:
    made = report()
    page = page_model(made)
    assert made["differences"][0]["n"] < 300
    assert page.where is not None
    assert page.where.panels[0].forest.rows[0].name == "all with clicks"
    assert page.where.share == "share of those with clicks"
    assert tables(made)["segments-1-table"].rows[0][0].text == "all with clicks"


def test_the_levels_stand_once_and_name_the_difference() -> None:
    made = report()
    found = tables(made)
    assert made["differences"][0]["also"]
    assert "also" not in found
    size = page_model(made).statements[0].headline.partition(" by ")[2]
    assert f"in win share, {size}, at every level" in found["levels"].caption
    assert [column.label for column in found["levels"].columns][-2] == "95\N{NO-BREAK SPACE}% interval"


def test_units_with_clicks_are_told_apart_from_all_units() -> None:
    made = report()
    pair, claim = made["interleaving"]["pairs"][0], made["differences"][0]
    heads = [column.label for column in tables(made)["logged"].columns]
    cell = tables(made)["logged"].rows[0][heads.index("units")]
    assert cell.text == f"{pair['units']:,}"
    told = f"{claim['n_clusters']:,} with clicks" if claim["n_clusters"] != pair["units"] else ""
    assert cell.note == told
    assert ("same results" in heads) == (pair["undecidable"] > 0)


def test_every_renderer_speaks_of_rankers_and_impressions(no_figures: None) -> None:
    made = report(queries=None)
    for text in (render_html(made).split('id="method"')[0], render_markdown(made), render_terminal(made)):
        assert "impressions" in text
        body = text.split("<main")[-1]
        for word in ("judged", "relevant", "control"):
            assert word not in body, word


def test_headings_are_in_the_words_of_a_log() -> None:
    trio = (("prod", "x"), ("prod", "y"), ("x", "y"))
    made = readout(log(600, 200, pairs=trio), segments=["device"]).to_dict()
    page = page_model(made)
    assert "Rankers against each other" in [section.heading for section in page.sections]
    for table in tables(made).values():
        assert "system" not in [column.label for column in table.columns], table.key
        assert "Means over units" not in table.caption
    ranks = [cells[2].text for cells in tables(made)["means"].rows]
    assert ranks == ["1 (1–1)", "2 (2–2)", "3 (3–3)"]
    assert "the row's ranker less the column's" in tables(made)["matrix-table"].caption
    assert "Impressions won" in render_markdown(made)


def test_a_withheld_verdict_is_not_shown_as_a_plain_one() -> None:
    rows = [row for i in range(60) for row in page_rows(f"p{i:02d}", "abab", "0101", device="ab"[i % 2])]
    made = readout(rows, segments=["device"]).to_dict()
    page = page_model(made)
    assert page.where is not None
    assert {row.tone for panel in page.where.panels for row in panel.forest.rows} == {"withheld"}
    # the numbers alone would show it
    assert all(row["p_value"] < 0.01 for row in made["differences"])
    told = page.statements[0]
    assert told.headline.endswith("is withheld")
    assert told.details[0].startswith("The rankers did not go first equally often")
    assert page.statements[0].tone == "withheld"
    assert page.notices[0].severity == "serious"


def test_few_units_are_too_few() -> None:
    page = page_model(readout(log(120, 9, effect=0.9, taste=0.0)).to_dict())
    assert page.statements[0].tone == "too-few"
    assert page.statements[0].headline.startswith("Too few")


@pytest.mark.parametrize(
    "look", [{"looks": (0.5, 1.0), "look": 1}, {"design": "confidence-sequence", "planned_units": 99}]
)
def test_looks_are_named(look: dict[str, Any], no_figures: None) -> None:
    made = report(**look)
    page = render_html(made)
    bound = made["interleaving"]["design"]["bound"]
    assert "valid at every look" in page if bound is None else f"{bound:.4f} standard errors" in page


def test_a_hostile_name_stays_text(no_figures: None) -> None:
    rows = [{**row, "ranker_b": "<script>alert(1)</script>"} for row in log(100, 40)]
    assert "<script>alert(1)" not in render_html(readout(rows).to_dict())


def test_other_reports_have_no_such_section() -> None:
    from tests.report.sample import sample_report  # noqa: PLC0415  only here

    assert "interleaving" not in {section.key for section in page_model(sample_report()).sections}
