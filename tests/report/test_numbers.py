"""Every number that a reader meets, in whatever output, stands in report.json or follows from it by counting."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from rankstats.report.comparisons import LOSSES_NAMED
from rankstats.report.html import render_html
from rankstats.report.latex import render_latex
from rankstats.report.markdown import render_markdown
from rankstats.report.notebook import notebook_html
from rankstats.report.source import Source
from rankstats.report.terminal import render_terminal
from tests.report.kinds import KINDS, report
from tests.report.sample import MEASURES, sample_report

pytestmark = pytest.mark.usefixtures("no_figures")

NUMBER = re.compile(r"(?<![\w.#-])[+−]?(?:\d[\d,]*)?\.?\d+(?![\w-])")


def html_text(report: dict[str, Any]) -> str:
    html = render_html(report)
    body = html[html.index("<main>") : html.index("</main>")]
    body = re.sub(r"<svg.*?</svg>|<script.*?</script>", " ", body, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", body)


def notebook_text(report: dict[str, Any]) -> str:
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", notebook_html(report), flags=re.DOTALL)


def markdown_text(report: dict[str, Any]) -> str:
    return render_markdown(report).replace("\\", "")


def latex_text(report: dict[str, Any]) -> str:
    latex = "\n".join(line for line in render_latex(report).splitlines() if not line.startswith(r"\providecommand"))
    latex = re.sub(
        r"\\rankstatsletter.*|\\label\{[^}]*\}|\\par\\medskip.*|%.*", "", latex.replace("$-$", "−").replace(r"\%", " ")
    )
    latex = latex.replace("--", "–").replace("{[}", "[")
    return re.sub(r"\\[A-Za-z]+(\{\})?|[${}~]", " ", latex)


def terminal_text(report: dict[str, Any]) -> str:
    return re.sub(r"(?<!\w)-(?=[\d.])", "−", render_terminal(report))


OUTPUTS: dict[str, tuple[Callable[[dict[str, Any]], str], int]] = {
    "html": (html_text, 1000),
    "notebook": (notebook_text, 40),
    "markdown": (markdown_text, 300),
    "latex": (latex_text, 300),
    "terminal": (terminal_text, 150),
}


@pytest.mark.parametrize("options", [{"systems": 4, "compare": "all-pairs"}, {"weights": True}], ids=str)
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_number_comes_from_the_report(output: str, options: dict[str, Any]) -> None:
    report = sample_report(queries=60, documents=True, **options)
    make, least = OUTPUTS[output]
    known = known_numbers(report)
    tokens = NUMBER.findall(make(report))
    assert len(tokens) > least
    assert not sorted({token for token in tokens if token.lstrip("+−") not in known})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_number_of_every_kind_comes_from_the_report(output: str, kind: str) -> None:
    made = report(kind)
    known = known_numbers(made)
    tokens = NUMBER.findall(OUTPUTS[output][0](made))
    assert len(tokens) > 12
    assert not sorted({token for token in tokens if token.lstrip("+−") not in known})


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_wrong_number_is_found(output: str) -> None:
    report = sample_report(queries=30, lists=False)
    known = known_numbers(report)
    row = next(row for row in report["scores"] if row["segment"] is None and row["measure"] == MEASURES[0][0])
    row["mean"] += 0.2718
    tokens = NUMBER.findall(OUTPUTS[output][0](report))
    assert [token for token in tokens if token.lstrip("+−") not in known]


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_number_of_any_kind_is_found(kind: str) -> None:
    made = report(kind)
    known = known_numbers(made)
    made["differences"][0]["difference"] += 7.2718
    tokens = NUMBER.findall(html_text(made))
    assert [token for token in tokens if token.lstrip("+−") not in known]


def known_numbers(report: dict[str, Any]) -> set[str]:
    """Return every number of the report as it may be written, and those that are words of the page."""
    # Names of measures, levels, the scale of agreement, sizes of what is listed.
    known = {"10", "2", "3", "4", "95", "0", "1", "100", str(len(report["warnings"]))}
    known |= {str(i) for i in range(1, 11)} | {f"{i}0" for i in range(1, 10)}
    numbers: list[float] = []
    values = report["values"]
    measure = report["primary"][0]
    walk(report, numbers)
    for family in report["families"]:
        numbers.append(len(family["members"]))
    outcomes = [row["outcome"] for row in report.get("checks") or []]
    numbers += [sum(o in ("serious", "warning") for o in outcomes), sum(o != "not_applicable" for o in outcomes)]
    for key in ("queries", "systems", "measures"):
        numbers.append(len(report[key]))
    for wanted in report["audit"]["queries"]["missing"].values():
        numbers.append(len(wanted))
    for distribution in report["distributions"]:
        numbers.append(sum(distribution["counts"]))
    numbers += by_segment_on_other_measures(report)
    # rows of a long table are counted beside its caption
    claims = [row for row in report["differences"] if row["segment"] is None and row["measure"] == measure]
    numbers.append(sum(len(row["also"]) + len(row["also_adjusted"]) for row in claims))
    compared = {(row["baseline"], row["system"]) for row in report["differences"]} if values else set()
    for first, second in compared:
        gaps = [b - a for a, b in zip(values[first][measure], values[second][measure], strict=True) if a is not None]
        numbers += [*gaps, sum(g > 0 for g in gaps), sum(g == 0 for g in gaps), sum(g < 0 for g in gaps)]
    for number in numbers:
        # more digits where a number lies close to zero, or a p-value to a level
        known |= {f"{abs(number):,.{d}f}" for d in range(7)} | {f"{abs(number):.{d}f}"[1:] for d in range(3, 9)}
        known |= {f"{abs(number) * 100:.{d}f}" for d in range(2)} | {".001", ".999"}
    # what inputs, plan, conventions and findings say in words stands in the report as it stands on the page
    keys = ("queries", "warnings", "checks", "decision", "reproduction", "measures", "experiment", "interleaving")
    told = [report.get(key) for key in keys]
    texts = json.dumps(told, ensure_ascii=False)
    return known | set(re.findall(r"\d+", texts)) | {found.lstrip("+−") for found in NUMBER.findall(texts)}


def by_segment_on_other_measures(report: dict[str, Any]) -> list[int]:
    """Count the differences by segment beside the primary measure, and the better ones, of each pair."""
    source, found = Source(report), []
    for pair in source.pairs:
        rows = [
            row
            for measure in source.outcome_measures
            for segment in source.segments
            if measure != source.primary[0]
            and (row := source.planned(measure, pair, (segment["attribute"], segment["value"])))
        ]
        tones = [source.tone(row) for row in rows]
        found += [len(rows), tones.count("better"), tones.count("worse") - LOSSES_NAMED]
    return found


def walk(value: Any, numbers: list[float]) -> None:
    if isinstance(value, dict):
        for item in value.values():
            walk(item, numbers)
    elif isinstance(value, list):
        for item in value:
            walk(item, numbers)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        numbers.append(value)
