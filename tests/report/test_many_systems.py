"""Three, eight, 129 systems: what is left out is counted and named, and the page stays small."""

from __future__ import annotations

import functools
import itertools
import re
import time
from typing import Any

import pytest

from rankstats.report import blocks, drawings
from rankstats.report.choice import chosen, limited
from rankstats.report.figures import figure_svg
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.source import Source
from rankstats.report.terminal import render_terminal
from tests.report.reading import Page
from tests.report.sample import MEASURES, sample_report

pytestmark = pytest.mark.usefixtures("no_figures")

MEASURE = MEASURES[0][0]
NAMES = tuple(f"run{i:03d}" for i in range(129))


@functools.cache
def report_of(systems: int, compare: str = "all-pairs") -> dict[str, Any]:
    return sample_report(
        names=NAMES[:systems], queries=30, segments=False, lists=False, distributions=False, compare=compare
    )


@functools.cache
def html_of(systems: int, compare: str = "all-pairs") -> str:
    return render_html(report_of(systems, compare))


def primary_rows(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in report["differences"] if row["measure"] == MEASURE and row["segment"] is None]


@pytest.mark.parametrize("compare", ["all-pairs", "baseline"])
def test_a_page_of_many_systems_names_what_it_leaves_out(compare: str) -> None:
    html = html_of(42, compare)
    total = {"all-pairs": "861", "baseline": "41"}[compare]
    assert f"of {total} comparisons" in html
    assert ("pairs.csv beside this page has all of them." in html) == (compare == "all-pairs")
    assert ("table has all of them." in html) == (compare == "baseline")
    assert f"For 6 of {total} comparisons; the values of all are in per_query.csv." in html
    assert ("the 20 highest and the 20 lowest differences, of 41 comparisons" in html) == (compare == "baseline")


@pytest.mark.slow
@pytest.mark.parametrize("compare", ["all-pairs", "baseline"])
def test_a_page_of_129_systems_is_small_and_quickly_made(compare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    report = report_of(129, compare)
    start = time.process_time()
    html = render_html(report)
    assert time.process_time() - start <= 3
    assert len(html.encode()) <= 3_000_000
    assert "pairs.csv beside this page has all of them." in html


def test_few_comparisons_are_all_there() -> None:
    for systems in (2, 3, 8):
        html, report = html_of(systems), report_of(systems)
        assert "pairs.csv" not in html
        assert len(Page(html).tables["pairs-1-table"]) == len(primary_rows(report)) + 1


def test_the_drawn_comparisons_are_those_of_the_leading_systems() -> None:
    report = report_of(42)
    rows = primary_rows(report)
    mean = {row["system"]: row["mean_system"] for row in rows} | {row["baseline"]: row["mean_baseline"] for row in rows}
    leading = sorted(mean, key=lambda name: -mean[name])[:9]
    table = Page(html_of(42)).tables["pairs-1-table"][1:]
    assert {frozenset(line[:2]) for line in table} == {frozenset((a, b)) for a in leading for b in leading if a != b}
    assert len(table) == 36


def test_the_drawn_comparisons_with_one_baseline_are_the_ends() -> None:
    rows = sorted(primary_rows(report_of(42, "baseline")), key=lambda row: -row["difference"])
    page = page_model(report_of(42, "baseline"))
    section = next(s for s in page.sections if s.key == "pairwise")
    figure = section.blocks[0]
    assert isinstance(figure, blocks.Figure)
    assert isinstance(figure.drawing, drawings.Forest)
    assert [row.name for row in figure.drawing.rows] == [row["system"] for row in [*rows[:20], *rows[-20:]]]
    assert figure.table is not None
    assert len(figure.table.rows) == 41


@pytest.mark.parametrize("systems", [3, 8, 20])
def test_the_matrix_and_its_table_say_what_the_report_says(systems: int) -> None:
    report = report_of(systems)
    page = page_model(report)
    section = next(s for s in page.sections if s.key == "matrix")
    figure = section.blocks[0]
    assert isinstance(figure, blocks.Figure)
    drawing = figure.drawing
    assert isinstance(drawing, drawings.Crossed)
    rows = {(row["system"], row["baseline"]): row for row in primary_rows(report)}
    table = Page(html_of(systems)).tables["matrix-table"]
    means = [
        next(s["mean"] for s in report["scores"] if (s["system"], s["measure"]) == (name, MEASURE))
        for name in drawing.labels
    ]
    assert means == sorted(means, reverse=True)
    for i, a in enumerate(drawing.labels):
        for j, b in enumerate(drawing.labels):
            row = rows.get((a, b)) or rows.get((b, a))
            if row is None:
                assert a == b
                assert drawing.tones[i][j] == ""
                continue
            size = row["difference"] if (a, b) in rows else -row["difference"]
            tone = "not-shown" if row["p_adjusted"] > 0.05 else "better" if size > 0 else "worse"
            assert drawing.tones[i][j] == tone
            text = re.search(r"[+−]?\d\.\d+", table[i + 1][j + 1])
            assert text is not None
            assert float(text[0].replace("−", "-")) == pytest.approx(size, abs=5.1e-4)
            assert table[i + 1][j + 1].endswith(f"{tone.replace('-', ' ')}]")


def test_the_table_beside_a_map_counts_outcomes() -> None:
    report = report_of(42)
    table = Page(html_of(42)).tables["matrix-table"]
    assert [re.sub(r" ↕$", "", head) for head in table[0]][:2] == ["system", "mean"]
    rows = primary_rows(report)
    for line in table[1:]:
        name = line[0]
        better = sum(
            r["p_adjusted"] <= 0.05 and (r["system"] == name) == (r["difference"] > 0)
            for r in rows
            if name in (r["system"], r["baseline"])
        )
        assert int(line[table[0].index("better than")]) == better
    assert len(table) == 43


def test_a_map_of_cells_is_few_elements_and_thins_its_labels() -> None:
    section = next(s for s in page_model(report_of(42)).sections if s.key == "matrix")
    figure = section.blocks[0]
    assert isinstance(figure, blocks.Figure)
    svg = figure_svg(figure)
    assert len(svg) < 60_000
    assert svg.count("<path") <= 4
    names = re.findall(r">(\d+) run\d+<", re.sub(r"\s+", " ", svg))
    steps = {int(b) - int(a) for a, b in itertools.pairwise(names)}
    assert steps == {1}


def test_long_lists_about_comparisons_are_limited_to_the_drawn_ones() -> None:
    report = report_of(42)
    source = Source(report)
    rows = primary_rows(report)
    kept, words = limited(source, rows)
    assert list(kept) == sorted(kept, key=rows.index)
    assert {row["id"] for row in kept} == {row["id"] for row in chosen(source, MEASURE).rows}
    assert words == "Listed: 36 of 861, on the leading comparisons; report.json has all of them."
    few, nothing = limited(source, rows[:250])
    assert (list(few), nothing) == (rows[:250], "")


def test_no_matrix_where_all_are_compared_with_one() -> None:
    assert "matrix-figure" not in html_of(8, "baseline")
    assert "matrix-figure" not in html_of(2)


def test_the_first_screen_sums_up_and_singles_out_the_leading_claims() -> None:
    against_one, report = page_model(report_of(42, "baseline")), report_of(42, "baseline")
    outcomes = [row["outcome"] for row in report["verdict"]]
    better, worse = outcomes.count("better"), outcomes.count("worse")
    (summary,) = against_one.summaries
    name = MEASURES[0][1]
    start = f"{better} of 41 systems" if better else "None of 41 systems"
    assert summary.headline.startswith(start)
    assert f"better than run000 on {name}" in summary.headline
    best = max((row for row in primary_rows(report)), key=lambda row: row["difference"])
    if better:
        most = " by most" if better > 1 else ""
        assert summary.headline.endswith(f"{best['system']}{most} ({best['difference']:+.3f})")
    assert (f"{worse} worse" in summary.details[0]) == (worse > 0)
    assert f"{outcomes.count('not_shown')} not shown to differ" in summary.details[0]
    assert against_one.more_statements == "38 more claims: see “Every comparison”."

    crossed, pairs = page_model(report_of(42)), report_of(42)
    differ = sum(row["outcome"] != "not_shown" for row in pairs["verdict"])
    best = max(pairs["ranks"], key=lambda row: row["mean"])
    candidates = sum(row["may_be_best"] for row in pairs["ranks"])
    (summary,) = crossed.summaries
    assert summary.headline == f"{best['system']} has the best mean of 42 systems on {name}: {best['mean']:.3f}"
    assert summary.details == (
        f"{candidates} systems may be the best; {differ:,} of 861 comparisons are shown to differ.",
    )
    assert best["system"] in crossed.statements[0].headline
    assert not page_model(sample_report()).summaries


def test_markdown_and_terminal_sum_up_too() -> None:
    report = report_of(42)
    headline = page_model(report).summaries[0].headline
    assert headline.replace("−", "-") in render_terminal(report).splitlines()[0]
    assert len(render_terminal(report)) < 200_000
    assert "pairs.csv" in render_terminal(report)
    assert "has the best mean of 42 systems" in render_markdown(report)


@pytest.mark.parametrize("systems", [3, 8, 42])
def test_ranks_are_those_of_the_report_in_figures_and_words(systems: int) -> None:
    report = report_of(systems)
    table = Page(html_of(systems)).tables["means"]
    place = next(i for i, head in enumerate(table[0]) if head.startswith("rank"))
    lines = {line[0].removesuffix("[baseline]"): line for line in table[1:]}
    for row in report["ranks"]:
        text = f"{row['rank']} ({row['low']}–{row['high']})" + ("[may be the best]" if row["may_be_best"] else "")
        assert lines[row["system"]][place] == text
    if systems > 8:
        means = [float(re.sub(r"^highest ", "", line[1])[:5]) for line in table[1:]]
        assert means == sorted(means, reverse=True)


def test_a_report_without_ranks_has_no_ranks() -> None:
    report = {key: value for key, value in sample_report().items() if key != "ranks"}
    html = render_html(report)
    assert not [head for head in Page(html).tables["means"][0] if head.startswith("rank")]
    assert "may be the best" not in html


def test_ranks_without_intervals_are_ranks() -> None:
    report = sample_report()
    for row in report["ranks"]:
        row |= {"low": None, "high": None, "may_be_best": None, "correction": None}
    table = Page(render_html(report)).tables["means"]
    place = next(i for i, head in enumerate(table[0]) if head.startswith("rank"))
    assert sorted(line[place] for line in table[1:]) == ["1", "2", "3"]
