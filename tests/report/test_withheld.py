"""A verdict that is withheld is called so wherever the page draws, lists or counts it, and its segments with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rankstats.report import blocks, tones
from rankstats.report.blocks import Cell, Figure, Paragraph, Table
from rankstats.report.figures_canvas import COLOURS, SHAPES
from rankstats.report.html import render_html
from rankstats.report.latex import render_latex
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.source import Source
from rankstats.report.strips import _COLOURS, _SHAPES
from rankstats.report.terminal import render_terminal
from rankstats.report.tones import MARKS, WITHHELD, WORDS
from tests.report.sample import sample_report

pytestmark = pytest.mark.usefixtures("no_figures")

REASON = "46 % of hybrid's top 10 is unjudged (keyword: 34 %); if 8 of those documents were relevant it would change"
LEAK = "every run has a relevant document first on every query: the judgments may have leaked into the runs"


def withheld(report: dict[str, Any], names: tuple[str, ...] = ("hybrid",), reason: str = REASON) -> dict[str, Any]:
    """Withhold the verdicts on some systems, as the program writes it for the claims."""
    by_id = {row["id"]: row for row in report["differences"]}
    for verdict in report["verdict"]:
        row = by_id[verdict["difference_id"]]
        if row["system"] in names:
            row["withheld"] = reason
            verdict["outcome"] = "not_shown"
            verdict["sentence"] = (
                f"The verdict on nDCG@10 (2^rel − 1) for {row['system']} against keyword is withheld: "
                f"{row['difference']:+.3f} (239 queries), but {reason}."
            )
    return report


def cells(page: blocks.Page) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    for section in page.sections:
        for block in section.blocks:
            table = block.table if isinstance(block, Figure) else block
            if isinstance(table, Table):
                yield from ((table.key, row) for row in table.rows)


def test_every_tone_has_a_mark_a_word_a_shape_and_a_colour() -> None:
    for known in (WORDS, SHAPES, COLOURS, _SHAPES, _COLOURS):
        assert set(known) == set(MARKS)
    assert len(set(MARKS.values())) == len(MARKS)
    assert set(tones.PALE) == set(MARKS) - {tones.BETTER, tones.WORSE}


def test_a_withheld_claim_and_its_segments_have_one_tone_everywhere() -> None:
    made = withheld(sample_report())
    source, page = Source(made), page_model(made)
    claim = next(row for row in made["differences"] if row.get("withheld"))
    assert claim["p_adjusted"] <= 0.05
    rows = [r for r in made["differences"] if (r["measure"], r["system"]) == (claim["measure"], "hybrid")]
    enough = [row for row in rows if row["n"] >= 10]
    assert len(enough) > 1
    assert {source.tone(row) for row in enough} == {WITHHELD}
    assert {source.tone(r) for r in made["differences"] if r["system"] == "neural"} - {"too-few"} <= set(MARKS) - {
        WITHHELD
    }
    assert source.claim_tone({"difference_id": claim["id"]}) == WITHHELD
    assert (page.statements[0].mark, page.statements[0].word) == (MARKS[WITHHELD], "withheld")
    assert page.where is not None
    found = {row.tone for row in page.where.panels[0].forest.rows}
    assert found <= {WITHHELD, tones.TOO_FEW}
    assert "■\N{NO-BREAK SPACE}withheld" in page.where.key
    told = [row[-1].text for key, row in cells(page) if key == "pairs-1-table" and row[0].text == "hybrid"]
    assert told == ["withheld"]
    assert "withheld" in render_terminal(made)
    assert "withheld" in render_latex(made)
    assert "■" in render_markdown(made)
    assert "t-withheld" in render_html(made)


def test_the_first_line_under_a_withheld_verdict_gives_the_reason_and_the_next_the_size() -> None:
    made = withheld(sample_report())
    said = page_model(made).statements[0]
    size = Source(made).signed(made["primary"][0], made["differences"][0]["difference"])
    assert said.headline.endswith("for hybrid against keyword is withheld")
    assert said.details[0] == f"{REASON}."
    assert said.details[1].startswith(f"difference {size} · 95")


def test_a_reason_that_several_verdicts_share_is_given_once() -> None:
    made = withheld(sample_report(), ("hybrid", "neural"), LEAK)
    first, second = page_model(made).statements
    assert first.details[0].startswith("Every run has a relevant document first")
    assert second.details[0] == "For the same reason as above."
    assert second.details[1].startswith("difference +")
    assert "relevant document first" not in " ".join(second.details)


def test_summaries_count_withheld_verdicts_apart() -> None:
    names = ("keyword", "hybrid", "neural", "splade", "colbert", "popular")
    made = withheld(sample_report(names=names), ("hybrid", "splade"))
    (summary,) = page_model(made).summaries
    assert "2 withheld" in summary.details[0]
    found = [Source(made).tone(row) for _, row in Source(made).planned_pairs(made["primary"][0])]
    assert summary.headline.startswith(f"{found.count('better')} of 5 systems")
    crossed = withheld(sample_report(names=names, compare="all-pairs"), ("hybrid",))
    assert page_model(crossed).summaries[0].details[0].endswith("are shown to differ, 1 withheld.")


def test_a_notice_that_only_repeats_the_reason_above_is_left_to_the_health_section() -> None:
    made = withheld(sample_report())
    place = "hybrid against keyword"
    repeated = [
        {"code": "unjudged_decide", "severity": "serious", "message": f"The verdict is withheld: {REASON}.",
         "where": f"{place}, nDCG@10 (2^rel − 1)"},
        {"code": "judged_gap", "severity": "warning", "where": place,
         "message": "46 % of hybrid's top 10 is unjudged against 34 % of keyword's; it may be better."},
    ]  # fmt: skip
    other = {
        "code": "judged_gap", "severity": "warning", "where": place,
        "message": "60 % of hybrid's top 20 is unjudged against 34 % of keyword's; it may be better.",
    }  # fmt: skip
    page = page_model(made | {"warnings": [*repeated, other]})
    assert [notice.message for notice in page.notices] == [other["message"]]
    assert page.notices_heading == "1 more thing to know"
    health = next(section for section in page.sections if section.key == "health")
    table = next(block for block in health.blocks if isinstance(block, Table) and block.key == "warnings")
    assert len(table.rows) == 3
    # where no statement says it, the notice does
    plain = page_model(sample_report() | {"warnings": repeated})
    assert len(plain.notices) == 2
    leaked = withheld(sample_report(), ("hybrid", "neural"), LEAK)
    leaked["warnings"] = [
        {"code": "perfect_run", "severity": "serious", "message": "All have a relevant document first.", "where": "a"}
    ]
    assert page_model(leaked).notices == ()


def test_what_rests_on_the_lists_of_a_withheld_verdict_is_doubted_too() -> None:
    page = page_model(withheld(sample_report()))
    blocks_of = {section.key: section.blocks for section in page.sections}
    said = " ".join(block.text for block in blocks_of["pairwise"] if isinstance(block, Paragraph))
    assert "With hybrid a verdict above is withheld, and these measures rest on the same lists." in said
    rows = [row for key, row in cells(page) if key == "pairs-other"]
    assert rows
    assert all((row[-1].note == "but withheld above") == (row[1].text == "hybrid") for row in rows)
    told = [block.text for block in blocks_of["segments"] if isinstance(block, Paragraph)]
    doubt = next(i for i, text in enumerate(told) if text.startswith("The verdict is withheld"))
    # heterogeneity is no plain statement there, and no loss or gain is counted
    assert "As it stands: Length " in told[doubt]
    assert told[doubt + 1].startswith("The other measures rest on the same lists")
    plain = page_model(sample_report())
    texts = [b.text for s in plain.sections for b in s.blocks if isinstance(b, Paragraph)]
    assert not any("rest on the same lists" in text for text in texts)
