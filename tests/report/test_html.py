"""The page: its numbers are those of report.json, outside text stays text, and its policy allows nothing else."""

from __future__ import annotations

import base64
import copy
import functools
import hashlib
import json
import re
from html import unescape as html_unescape
from typing import Any

import pytest

from rankstats.errors import RankstatsError
from rankstats.report.blocks import Cell, Column, Table
from rankstats.report.html import environment, render_html, template_text
from tests.report.kinds import many_report
from tests.report.reading import Page
from tests.report.sample import MEASURES, hostile_report, sample_report


@functools.cache
def rendered(**options: Any) -> str:
    return render_html(sample_report(**options))


def minus(text: str) -> str:
    return text.replace("-", "−")


def row_of(report: dict[str, Any], measure: str, system: str, segment: str | None = None) -> dict[str, Any]:
    return next(
        row
        for row in report["differences"]
        if (row["measure"], row["system"], row["weighting"]) == (measure, system, None)
        and (row["segment"] or {}).get("value") == segment
    )


def p_text(p: float) -> str:
    if p < 0.001:
        return "< .001"
    return "> .999" if p >= 0.9995 else f"{p:.3f}"[1:]


def test_means_are_those_of_the_report() -> None:
    report = sample_report()
    table = Page(rendered()).tables["means"]
    assert len(table) == len(report["systems"]) + 1
    for line in table[1:]:
        system = next(system for system in report["systems"] if line[0].startswith(system["name"]))
        means = [cell for cell, head in zip(line, table[0], strict=True) if not head.startswith("rank")]
        for cell, (measure, _, _) in zip(means[1:], MEASURES, strict=True):
            score = next(
                s for s in report["scores"]
                if (s["system"], s["measure"], s["segment"]) == (system["name"], measure, None)
            )  # fmt: skip
            text = cell.removeprefix("highest ")
            decimals = len(re.split(r"[.\[]", text)[1])
            ends = [f"{score['interval'][end]:.{decimals}f}" for end in ("low", "high")]
            assert text.startswith(f"{score['mean']:.{decimals}f}[{ends[0]} to {ends[1]}")


@pytest.mark.parametrize("system", ["hybrid", "neural"])
def test_differences_are_those_of_the_report(system: str) -> None:
    report = sample_report()
    row = row_of(report, MEASURES[0][0], system)
    line = next(line for line in Page(rendered()).tables["pairs-1-table"] if line[0] == system)
    assert line[1] == f"{row['n']:,}"
    assert line[2:5] == [
        f"{row['mean_baseline']:.3f}",
        f"{row['mean_system']:.3f}",
        minus(f"{row['difference']:+.3f}"),
    ]
    own, joint = (
        minus(f"{row[key]['low']:+.3f} to {row[key]['high']:+.3f}") for key in ("interval", "adjusted_interval")
    )
    assert line[6] == f"{own}[{joint}]"
    assert line[7:9] == [p_text(row["p_value"]), p_text(row["p_adjusted"])]


def test_segments_are_those_of_the_report_on_the_first_screen_and_below() -> None:
    report = sample_report()
    page = Page(rendered())
    strip = {line[0]: line for line in page.tables["where"][1:]}
    below = {line[0]: line for line in page.tables["segments-1-table"][1:]}
    assert list(strip) == list(below)
    for segment in report["segments"]:
        row = row_of(report, MEASURES[0][0], "hybrid", segment["value"])
        difference = minus(f"{row['difference']:+.3f}")
        assert strip[segment["label"]][2] == difference
        assert below[segment["label"]][5] == difference
        assert f"{row['n']:,}" == strip[segment["label"]][-2] == below[segment["label"]][1]


def test_query_values_are_those_of_the_report() -> None:
    report = sample_report()
    table = Page(rendered()).tables["query-table"]
    values = report["values"]
    measure = MEASURES[0][0]
    assert len(table) == len(report["queries"]) + 1
    assert table[0][:6] == ["query", "id", "difference", "keyword", "hybrid", "neural"]
    for i, line in enumerate(table[1:]):
        shown = [values[s["name"]][measure][i] for s in report["systems"]]
        assert line[3:6] == ["—" if v is None else f"{v:.3f}" for v in shown]
        if shown[0] is not None:
            assert line[2] == minus(f"{shown[1] - shown[0]:+.3f}").replace("+0.000", "0.000").replace("−0.000", "0.000")


@functools.cache
def hostile_page() -> tuple[str, Page]:
    html = render_html(hostile_report())
    return html, Page(html)


def test_outside_text_stays_text() -> None:
    html, page = hostile_page()
    html.encode("utf-8")
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2  # the data of the queries, and the script
    assert not {"b", "i", "img", "iframe", "object", "base", "form"} & set(tags)
    assert not [c for c in html if c in "\x00\x1b\u202e\ud800"]
    for told in (
        "<script>alert(1)</script>",
        "{{ 7 * 7 }} {% raw %}",
        "$x_1$ \\frac{a}{b}",
        "😀 emoji",
        "עברית and English",
    ):
        assert told in page.text, told
    assert len(html) < 3_000_000


def test_hostile_text_opens_no_attribute() -> None:
    _, page = hostile_page()
    for tag, attributes in page.elements:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("src", "href", "xlink:href", "action", "srcset", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,", "https://example.org/")), (tag, value)


def test_hostile_ids_stay_unique() -> None:
    _, page = hostile_page()
    assert len(page.ids) == len(set(page.ids))


def test_nothing_is_styled_or_scripted_inline() -> None:
    page = Page(rendered())
    for tag, attributes in page.elements:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
    assert [tag for tag, _ in page.elements].count("style") == 1


def test_nothing_is_fetched() -> None:
    for tag, attributes in Page(rendered()).elements:
        for name in ("src", "href", "xlink:href", "action", "srcset", "poster", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, value)


def test_the_policy_allows_the_pages_own_style_and_script_by_hash() -> None:
    html = rendered()
    policy = next(a["content"] for _, a in Page(html).elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    for tag in ("style", "script"):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text.group(1).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")


def test_ids_are_unique_and_references_meet_them() -> None:
    page = Page(rendered())
    ids = page.ids
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "href"):
            value = attributes.get(name) or ""
            for target in value.split() if name == "aria-labelledby" else [value[1:]] if value[:1] == "#" else []:
                assert target in ids


def test_two_renders_give_the_same_bytes_and_leave_the_report_alone() -> None:
    report = sample_report()
    before = copy.deepcopy(report)
    first = render_html(report)
    assert report == before
    assert first == render_html(json.loads(json.dumps(report)))


@pytest.mark.usefixtures("no_figures")
def test_sections_without_content_are_absent() -> None:
    html = rendered(systems=2, segments=False, lists=False, warnings=False, distributions=False)
    ids = set(Page(html).ids)
    assert not {"segments", "distributions", "matrix", "where", "notices-h", "warnings"} & ids
    assert {"verdict", "health", "means", "pairwise", "examples", "queries", "method"} <= ids
    assert "matrix" in Page(rendered(systems=3, compare="all-pairs")).ids


def test_a_page_of_1000_queries_is_at_most_a_megabyte() -> None:
    html = rendered(queries=1000)
    assert len(html.encode()) <= 1_000_000
    # a policy without data: images would blank a picture
    assert "<image" not in html


def test_a_segment_of_few_queries_gets_no_verdict() -> None:
    line = next(line for line in Page(rendered()).tables["where"] if line[0] == "head")
    assert "too few" in line
    row = next(line for line in Page(rendered()).tables["segments-1-table"] if line[0] == "head")
    assert row[-1] == "○ too few"
    assert not re.search(r"p(&nbsp;|\xa0)too few", rendered())


@pytest.mark.usefixtures("no_figures")
def test_p_is_never_zero_and_significance_never_stands_alone() -> None:
    report = sample_report(effects=(0.0, 0.2, 0.2))
    text = Page(render_html(report)).text
    assert not re.search(r"\bp\s*=\s*0?\.0+\b", text)
    assert "significant" not in text.casefold()
    assert "no difference" not in text.casefold()


@pytest.mark.usefixtures("no_figures")
def test_an_own_interval_that_contradicts_the_verdict_stands_second() -> None:
    report = sample_report()
    row = next(r for r in report["differences"] if r["id"] == report["verdict"][1]["difference_id"])
    row["interval"] |= {"low": 0.001, "high": 0.01}
    row["adjusted_interval"] |= {"low": -0.001, "high": 0.012}
    assert "simultaneous 95\xa0% interval −0.001 to +0.012 (alone +0.001 to +0.010)" in render_html(report)


def test_lists_show_grades_moves_and_what_nobody_judged() -> None:
    page = Page(rendered())
    lists = [rows for key, rows in page.tables.items() if key.startswith("table-")]
    assert len(lists) == 2 * 2 * 20
    cells = [row[1] for rows in lists for row in rows[1:]]
    assert "?not judged" in cells
    assert "●●○grade 2 of 3" in cells
    moves = {row[3] for rows in lists[1::2] for row in rows[1:]}
    assert "new" in moves
    assert any(move.startswith("↑ was ") for move in moves)


@pytest.mark.parametrize("key", ["differences", "audit", "reproduction"])
def test_a_missing_key_is_named(key: str) -> None:
    report = sample_report(queries=20)
    del report[key]
    with pytest.raises(RankstatsError, match=key):
        render_html(report)


def test_another_version_is_refused() -> None:
    with pytest.raises(RankstatsError, match="schema_version '2'"):
        render_html(sample_report(queries=20) | {"schema_version": "2"})


def test_an_unknown_template_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        template_text("absent.html.j2")


@pytest.mark.usefixtures("no_figures")
def test_an_empty_list_says_so() -> None:
    report = sample_report()
    assert '<td colspan="5">returned nothing</td>' not in render_html(report)
    report["lists"][0]["docs"] = []
    assert '<td colspan="5">returned nothing</td>' in render_html(report)


@pytest.mark.parametrize(
    ("kind", "text", "html"),
    [
        ("unbroken", "sbert-both, on 2024-05-06 (--lower)",
         '<span class="whole">sbert-both,</span> on <span class="whole">2024-05-06</span> '
         '<span class="whole">(--lower)</span>'),
        ("unbroken", "<b>-1 & no hyphen", '<span class="whole">&lt;b&gt;-1</span> &amp; no hyphen'),
        ("unbroken", "x-" * 20, "x-" * 20),
        ("unbroken", "runs/<a>-long/keyword.run and/or", "runs/<wbr>&lt;a&gt;-long/<wbr>keyword.run and/or"),
        ("command", "rankstats gate r/report.json --out a",
         'rankstats gate <span class="whole">r/report.json</span> <span class="whole">--out</span> a'),
    ],
)  # fmt: skip
def test_words_that_break_at_a_hyphen_are_held_together(kind: str, text: str, html: str) -> None:
    assert str(environment().filters[kind](text)) == html


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("AP, n = 240, p < .001", "AP, n_=_240, p_<_.001"),
        ("5 = 5, span = 3", "5 = 5, span = 3"),
    ],
)
def test_a_letter_keeps_its_number(text: str, held: str) -> None:
    shown = environment().from_string("{{ text }}").render(text=text)
    assert html_unescape(shown).replace("\N{NO-BREAK SPACE}", "_") == held


def test_paper_says_in_a_paragraph_which_checks_found_nothing() -> None:
    def row(question: str, outcome: str, found: str, tone: str) -> tuple[Cell, ...]:
        return Cell(question), Cell(outcome, tone=tone), Cell(found)

    rows = (
        row("is it so?", "warning", "no", "severity-warning"),
        row("a < b?", "nothing found", "", "quiet"),
        row("is it told?", "nothing found", "it is", "quiet"),
        row("is c?", "does not apply", "", "quiet"),
        row("is d?", "nothing found", "", "quiet"),
    )
    columns = tuple(Column(label, number=False) for label in ("question", "outcome", "found"))
    shown = environment().get_template("blocks.html.j2").module.table
    html = str(shown(Table("evidence-checks", "All", columns, rows)))
    assert re.findall(r'<p class="small paper">(.*?)</p>', html) == [
        "Nothing found: a &lt; b? is d?",
        "Does not apply: is c?",
    ]
    assert re.findall(r'<tr class="aside"><th scope="row"[^>]*>(.*?)</th>', html) == ["a &lt; b?", "is c?", "is d?"]
    assert "aside" not in str(shown(Table("other", "All", columns, rows)))


@pytest.mark.usefixtures("no_figures")
def test_only_the_twin_of_a_figure_is_left_to_the_screen() -> None:
    folds = re.findall(r'<details class="([\w ]+)">\s*<summary>(.*?)</summary>', render_html(sample_report()))
    kinds = {kind: [said for k, said in folds if k == kind] for kind, _ in folds}
    assert set(kinds) == {"twin", "fold"}
    assert all(said.startswith("As a table") for said in kinds["twin"])
    assert any(said.endswith("all conventions") for said in kinds["fold"])


@pytest.mark.usefixtures("no_figures")
def test_a_table_that_scrolls_says_how_many_rows_it_has() -> None:
    html = render_html(many_report())
    caption = re.search(r'<caption id="means-c">[^<]*(<span class="key">.*?</span>)?</caption>', html)
    assert caption is not None
    assert caption[1] == f'<span class="key">{len(Page(html).tables["means"]) - 1} rows</span>'


def test_a_number_that_begins_a_row_stands_under_its_head() -> None:
    html = rendered()
    table = html[html.index('<table id="distribution-1-table"') :]
    assert '<th scope="col" class="n">from</th>' in table
    assert re.search(r'<tr><th scope="row" class="n">', table)
