"""What holds of every page: the same bytes, one winner in text, table and figure, no reach beyond the file."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

from rankstats.report.blocks import Figure, Table
from rankstats.report.drawings import Forest
from rankstats.report.figures import figure_svg
from rankstats.report.folder import json_text, rendered_files
from rankstats.report.html import page_html, render_html
from rankstats.report.latex import render_latex
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.terminal import render_terminal
from rankstats.report.tones import MARKS, WORDS
from tests.report.kinds import KINDS, report
from tests.report.reading import Page

every_kind = pytest.mark.parametrize("kind", KINDS)
decided = pytest.mark.parametrize("kind", ["go", "no-go", "cannot-tell"])


@every_kind
def test_two_renders_and_one_from_the_json_file_give_the_same_bytes(kind: str) -> None:
    made = report(kind)
    files = rendered_files(made)
    assert rendered_files(report(kind)) == files
    assert rendered_files(json.loads(json_text(made))) == files


@every_kind
@pytest.mark.usefixtures("no_figures")
def test_the_page_reaches_for_nothing_and_styles_nothing_inline(kind: str) -> None:
    page = Page(render_html(report(kind)))
    assert len(page.ids) == len(set(page.ids))
    for tag, attributes in page.elements:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("src", "href", "xlink:href", "action", "srcset", "poster", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, value)
            assert not (value or "").startswith("#") or value in {"#", *(f"#{key}" for key in page.ids)}, value


@every_kind
def test_text_table_and_figure_name_the_same_winner(kind: str) -> None:
    made = report(kind)
    page = page_model(made)
    for verdict in made["verdict"][:40]:
        row = next(r for r in made["differences"] if r["id"] == verdict["difference_id"])
        tone = verdict["outcome"].replace("_", "-")
        figure, table = _figure_and_table(page, verdict["measure"])
        line = next(cells for cells in table.rows if cells[0].text == verdict["system"])
        assert (line[-1].text, line[-1].mark) == (WORDS[tone], MARKS[tone])
        drawn = [r for r in figure.rows if r.name == verdict["system"]]
        assert all((r.tone, r.value) == (tone, row["difference"]) for r in drawn)
        said = [s for s in page.statements if s.headline.startswith(f"{verdict['system']} is")]
        assert all((s.tone, s.mark) == (tone, MARKS[tone]) for s in said)
    outputs = (render_terminal(made), render_markdown(made).replace("\\", ""), Page(page_html(page)).text)
    for statement in (*page.summaries, *page.statements):
        for text in outputs:
            assert _plain(statement.headline) in _plain(text)


def _figure_and_table(page: object, measure: str) -> tuple[Forest, Table]:
    section = next(s for s in page.sections if s.key == "pairwise")  # type: ignore[attr-defined]  # a Page
    figure = next(b for b in section.blocks if isinstance(b, Figure))
    assert measure in figure.title
    assert isinstance(figure.drawing, Forest)
    assert figure.table is not None
    return figure.drawing, figure.table


def _plain(text: str) -> str:
    return " ".join(text.replace("−", "-").replace("∞", "inf").split())


@every_kind
def test_every_row_of_a_forest_stands_in_its_drawing_with_its_numbers(kind: str) -> None:
    figures = [b for s in page_model(report(kind)).sections for b in s.blocks if isinstance(b, Figure)]
    forests = [figure for figure in figures if isinstance(figure.drawing, Forest)]
    assert forests
    for figure in forests[:3]:
        root = ET.fromstring(figure_svg(figure))
        texts = ["".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("text")]
        for row in figure.drawing.rows:  # type: ignore[union-attr]  # a Forest, see above
            assert {row.label, MARKS[row.tone], row.difference, row.interval, row.n} <= set(texts)


@decided
def test_the_decision_says_why_and_the_rules_that_decide_come_first(kind: str) -> None:
    made = report(kind)
    page = page_model(made)
    assert page.decision is not None
    assert page.rules is not None
    rules = made["decision"]["rules"]
    wanted = {"go": "holds", "no-go": "fails", "cannot-tell": "open"}[kind]
    assert page.rules.rows[0][1].text == wanted
    assert sorted(row[0].text for row in page.rules.rows) == sorted(rule["title"] or rule["id"] for rule in rules)
    reasons = [rule["sentence"] for rule in rules if rule["outcome"] == wanted and wanted != "holds"]
    found = " ".join(row[2].text for row in page.rules.rows[: len(reasons)])
    assert all(_plain(reason) in _plain(found) for reason in reasons)
    told = " ".join(page.decision.details)
    assert f"of {len(rules)} rules" in told or wanted == "holds"
    for text in (render_markdown(made), render_terminal(made)):
        assert page.decision.word in text


@pytest.mark.usefixtures("no_figures")
def test_an_experiment_speaks_of_arms_control_and_metrics() -> None:
    made = report("experiment")
    tables = Page(render_html(made)).tables
    assert tables["means"][0][0] == "arm"
    assert tables["means"][1][0] == "A[control]"
    heads = tables["pairs-1-table"][0]
    assert {"arm", "control mean", "arm mean"} <= set(heads)
    assert not {"system", "baseline", "measure"} & {head for rows in tables.values() for head in rows[0]}
    assert "(control)" in render_terminal(made)
    assert r"control mean & arm mean" in render_latex(made)


@pytest.mark.usefixtures("no_figures")
def test_long_tables_scroll_in_a_region_of_their_own() -> None:
    html = render_html(report("many"))
    regions = re.findall(r'<div class="scroll( long)?" role="group" aria-labelledby="([\w-]+)-c"', html)
    rows = {key: len(lines) - 1 for key, lines in Page(html).tables.items()}
    long = {key for mark, key in regions if mark}
    assert "means" in long
    assert all((rows[key] > 40) == (key in long) for _, key in regions if key != "query-table" and key in rows)


@every_kind
@pytest.mark.usefixtures("no_figures")
def test_each_line_of_means_and_differences_holds_the_numbers_of_its_own_row(kind: str) -> None:
    made = report(kind)
    tables = Page(render_html(made)).tables
    measure = made["primary"][0]
    rows = {r["system"]: r for r in made["differences"] if r["measure"] == measure and r["segment"] is None}
    heads, *lines = tables["pairs-1-table"]
    assert len(lines) == len(rows)
    for line in lines:
        cells, row = dict(zip(heads, line, strict=True)), rows[line[0]]
        shown = [cell.split("[")[0] for head, cell in cells.items() if head.endswith("mean")]
        assert _same(shown[0], row["mean_baseline"])
        assert _same(shown[1], row["mean_system"])
        assert _same(cells["difference"], row["difference"])
        low, high = next(cell for head, cell in cells.items() if "interval" in head).split("[")[0].split(" to ")
        assert _same(low, row["interval"]["low"])
        assert _same(high, row["interval"]["high"])
        assert cells["n"] == f"{row['n']:,}"
    scores = {r["system"]: r for r in made["scores"] if r["measure"] == measure and r["segment"] is None}
    assert len(tables["means"]) == len(scores) + 1
    for line in tables["means"][1:]:
        row = scores[line[0].split("[")[0]]
        mean, low, high = re.split(r"\[| to |\]", line[1].removeprefix("highest "))[:3]
        assert _same(mean, row["mean"])
        assert _same(low, row["interval"]["low"])
        assert _same(high, row["interval"]["high"])


def _same(text: str, value: float) -> bool:
    decimals = len(text.partition(".")[2])
    return float(text.replace("−", "-")) == float(f"{value:.{decimals}f}") and decimals >= 2
