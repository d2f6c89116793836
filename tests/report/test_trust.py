"""Evidence about the claims: the sentence over each table answers its question, and agrees with the table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rankstats.report import trust
from rankstats.report.blocks import Block, Cell, Paragraph, Table
from rankstats.report.source import Source
from tests.report.sample import sample_report

Content = dict[str, Any]


def report_of(**options: Any) -> Content:
    return sample_report(**{"queries": 60, "segments": False, "lists": False, **options})


def claim(report: Content, place: int = 0) -> Content:
    """The row of differences of a verdict."""
    wanted = report["verdict"][place]["difference_id"]
    return next(row for row in report["differences"] if row["id"] == wanted)


def about(report: Content, place: int, **found: Any) -> Content:
    row = claim(report, place)
    names = {key: row[key] for key in ("measure", "baseline", "system")}
    return {"difference_id": row["id"], **names, "verdict": report["verdict"][place]["outcome"], **found}


def coverage(report: Content, place: int = 0, **changes: Any) -> Content:
    verdict = report["verdict"][place]["outcome"]
    found = {
        "depth": 10, "unjudged_baseline": 0.014, "unjudged_system": 0.02, "documents": 17, "worst": 0.01,
        "worst_outcome": verdict, "best": 0.05, "best_outcome": verdict, "to_turn": None, "turns_to": None,
        "likely": None,
    }  # fmt: skip
    return about(report, place, **{**found, **changes})


def condensed(report: Content, place: int = 0, **changes: Any) -> Content:
    row, verdict = claim(report, place), report["verdict"][place]["outcome"]
    found = {
        "removed_baseline": 38587, "removed_system": 36615, "difference": row["difference"], "plain": row["difference"],
        "interval": row["interval"], "outcome": verdict, "disagreement": None,
    }  # fmt: skip
    return about(report, place, **{**found, **changes})


def tie_effect(report: Content, place: int = 0, **changes: Any) -> Content:
    found = {"queries_baseline": 1, "queries_system": 0, "low": 0.01, "high": 0.02, "turns_to": None}
    return about(report, place, **{**found, **changes})


def robustness(report: Content, place: int = 0, **changes: Any) -> Content:
    row = claim(report, place)
    carriers = [{"query_id": f"{i}", "difference": 0.5 - i / 10, "share": 0.1} for i in range(5)]
    found = {
        "median": 0.0, "trimmed_mean": row["difference"], "trim": 0.2, "side": "gain", "movers": 50, "half": 17,
        "carriers": carriers,
    }  # fmt: skip
    return about(report, place, **{**found, **changes})


def mix(report: Content, place: int = 0, **changes: Any) -> Content:
    row = claim(report, place)
    found = {
        "attribute": "kind", "mix": {"a": 0.7, "b": 0.3}, "source": "traffic", "plain": row["difference"],
        "difference": 0.027, "p_value": 0.071, "interval": {**row["interval"], "low": -0.002, "high": 0.056},
    }  # fmt: skip
    return about(report, place, **{**found, **changes})


def table_of(blocks: list[Block]) -> Table:
    (table,) = [block for block in blocks if isinstance(block, Table)]
    return table


def answer_of(blocks: list[Block]) -> str:
    (text,) = [block.text for block in blocks if isinstance(block, Paragraph) and not block.small]
    return text


def withheld(report: Content, reason: str = "34 % of its top 10 is unjudged") -> Content:
    """The first claim of a report, withheld; the outcome of the evidence stays."""
    claim(report)["withheld"] = reason
    return report


def line(cells: tuple[Cell, ...]) -> str:
    return " | ".join(f"{cell.text} [{cell.note}]" if cell.note else cell.text for cell in cells)


@pytest.mark.parametrize(
    ("changes", "answer", "cell"),
    [
        ({}, "No: the verdict is the same", "none"),
        ({"worst_outcome": "not_shown"}, "Only if all of them had", "none [only of the highest grade]"),
        ({"to_turn": 23, "turns_to": "not_shown", "likely": 59.2}, "Yes: 23 relevant documents", "23 [to not shown]"),
        ({"to_turn": 60, "turns_to": "not_shown", "likely": 59.2}, "Hardly: it takes 60", "60 [to not shown]"),
        ({"to_turn": 1, "turns_to": "worse"}, "Yes: 1 relevant document would turn the verdict.", "1 [to worse]"),
    ],
)
def test_whether_unjudged_documents_turn_a_verdict(changes: Content, answer: str, cell: str) -> None:
    report = report_of(systems=2)
    report["coverage"] = [coverage(report, **changes)]
    blocks = trust.unjudged(Source(report))
    assert answer_of(blocks).startswith(answer)
    assert line(table_of(blocks).rows[0][5:6]) == cell
    assert table_of(blocks).rows[0][2].text == "1.4\xa0% and 2.0\xa0%"


def test_of_several_verdicts_each_is_counted_once() -> None:
    report = report_of(systems=6)
    turned = {"to_turn": 5, "turns_to": "worse"}
    kinds: list[Content] = [{**turned, "likely": 5.0}, {**turned, "likely": 4.0}, turned, {"worst_outcome": "?"}, {}]
    report["coverage"] = [coverage(report, place, **kind) for place, kind in enumerate(kinds)]
    told = answer_of(trust.unjudged(Source(report)))
    assert told.startswith("Of 5 verdicts, 1 could be turned by no more documents than are likely relevant, 1 only ")
    assert [int(n) for n in re.findall(r"\d+", told)] == [5, 1, 1, 1, 1, 1]


def test_a_withheld_claim_is_withheld_in_every_table() -> None:
    report = withheld(report_of(systems=2))
    report["verdict"][0]["outcome"] = "worse"
    report["coverage"], report["condensed"] = [coverage(report)], [condensed(report)]
    report["tie_effects"], report["post_stratified"] = [tie_effect(report)], [mix(report, p_value=0.001)]
    source = Source(report)
    blocks = trust.unjudged(source)
    assert line(table_of(blocks).rows[0][1:2]) == "withheld [would be worse]"
    assert any("more than 5 points" in block.text for block in blocks if isinstance(block, Paragraph))
    assert line(table_of(trust.ties(source)).rows[0][1:2]) == "withheld [would be worse]"
    assert table_of(trust.condensed(source)).rows[0][2].note == "withheld (would be worse)"
    assert table_of(trust.mixes(source)).rows[0][-1].text == "withheld"


def test_of_too_few_queries_no_evidence_is_shown() -> None:
    report = report_of(systems=2, queries=9)
    report["coverage"], report["condensed"] = [coverage(report)], [condensed(report)]
    report["tie_effects"], report["robustness"] = [tie_effect(report)], [robustness(report)]
    source = Source(report)
    assert trust.unjudged(source) + trust.condensed(source) + trust.ties(source) + trust.carriers(source) == []


def test_the_interval_of_condensed_lists_is_a_column_of_numbers() -> None:
    report = report_of(systems=2)
    report["condensed"], report["post_stratified"] = [condensed(report)], [mix(report)]
    for blocks in (trust.condensed(Source(report)), trust.mixes(Source(report))):
        assert table_of(blocks).columns[4].label == "95\xa0% interval"
        assert table_of(blocks).columns[4].number
    assert table_of(trust.condensed(Source(report))).rows[0][1].text == "38,587 and 36,615"


def test_ties_that_change_nothing_that_is_shown_are_counted_only() -> None:
    report = report_of(systems=3)
    report["tie_effects"] = [tie_effect(report, 0), tie_effect(report, 1, low=0.01, high=0.0100001)]
    blocks = trust.ties(Source(report))
    assert [line(row[3:]) for row in table_of(blocks).rows] == ["+0.010 | +0.020 | the same"]
    assert blocks[1] == Paragraph(blocks[1].text, small=True)  # type: ignore[union-attr]  # a remark
    assert "1 comparison changes less than is shown." in blocks[1].text  # type: ignore[union-attr]  # as above
    report["tie_effects"] = report["tie_effects"][1:]
    (only,) = trust.ties(Source(report))
    assert isinstance(only, Paragraph)


def test_a_tie_that_turns_a_verdict_is_shown_whatever_its_digits() -> None:
    report = report_of(systems=2)
    report["tie_effects"] = [tie_effect(report, low=0.01, high=0.0100001, turns_to="not_shown")]
    assert table_of(trust.ties(Source(report))).rows[0][-1].text == "can be not shown"


@pytest.mark.parametrize(("share", "answer"), [(0.9, "No"), (0.5, "No"), (0.49, "Yes"), (-0.2, "Yes")])
def test_few_queries_carry_a_mean_that_falls_below_half_without_them(share: float, answer: str) -> None:
    report = report_of(systems=2)
    row = claim(report)
    report["robustness"] = [robustness(report, trimmed_mean=share * row["difference"])]
    blocks = trust.carriers(Source(report))
    told = answer_of(blocks)
    mean, _, trimmed = (cell.text for cell in table_of(blocks).rows[0][1:4])
    assert told.startswith(f"{answer}: half of all gains comes from 17 of {row['n']} queries; without the 20\xa0% ")
    assert f" most extreme queries on each side hybrid's {mean} on " in told
    assert told.endswith(f" is {trimmed}.")
    cells = table_of(blocks).rows[0]
    assert cells[4].text == "17 of 50 queries with gains"
    assert cells[5].text == "0:\xa0+0.500; 1:\xa0+0.400; 2:\xa0+0.300"


def test_carried_means_are_named_and_the_best_comparison_comes_first() -> None:
    report = report_of(systems=8)
    effects = [claim(report, place)["difference"] for place in range(7)]
    report["robustness"] = [
        robustness(report, place, trimmed_mean=effects[place] * (0.1 if place == 1 else 1)) for place in range(7)
    ]
    for verdict in report["verdict"]:
        verdict["outcome"] = "better"
    blocks = trust.carriers(Source(report))
    assert answer_of(blocks).startswith("In part: without the 20\xa0% most extreme queries on each side 1 of 7 ")
    assert answer_of(blocks).endswith(" less than half of the size (neural).")
    means = [float(row[1].text.replace("−", "-")) for row in table_of(blocks).rows]
    assert means == sorted(means, reverse=True)


def test_without_a_trimmed_mean_nothing_is_answered() -> None:
    report = report_of(systems=2)
    report["robustness"] = [robustness(report, median=None, trimmed_mean=None)]
    (table,) = trust.carriers(Source(report))
    assert isinstance(table, Table)


def test_a_mix_that_changes_the_verdict_is_told_first() -> None:
    report = report_of(systems=2)
    report["verdict"][0]["outcome"] = "better"
    report["post_stratified"] = [mix(report)]
    blocks = trust.mixes(Source(report))
    assert answer_of(blocks) == (
        "Yes: with the mix of kind the difference is +0.027 (95\xa0% interval −0.002 to +0.056; p = .071): not shown, "
        "while over the judged queries it is better."
    )
    assert line(table_of(blocks).rows[0][2:3]).endswith(" [better]")
    assert table_of(blocks).rows[0][-1].text == "not shown"


def test_a_mix_is_corrected_for_the_family_of_the_claims() -> None:
    report = report_of(systems=4)
    for verdict in report["verdict"]:
        verdict["outcome"] = "better"
    report["post_stratified"] = [mix(report, place, p_value=p) for place, p in enumerate((0.016, 0.018, 0.0001))]
    blocks = trust.mixes(Source(report))
    assert [row[-1].text for row in table_of(blocks).rows] == ["better", "not shown", "better"]
    told = "Yes: 1 of 3 verdicts is another under a mix (neural with the mix of kind: not shown instead of better)."
    assert answer_of(blocks) == told
    assert any("3 times p" in block.text for block in blocks if isinstance(block, Paragraph))


def test_checks_are_counted_as_checks() -> None:
    report = report_of(systems=2)
    outcomes = ("ok", "warning", "serious", "not_applicable")
    report["checks"] = [{"code": o, "question": o, "outcome": o, "found": ""} for o in outcomes]
    caption = table_of(trust.checks(Source(report))).caption
    assert caption == "All checks: 2 of the 3 that apply found something to warn of"
    report["checks"] = report["checks"][:1]
    caption = table_of(trust.checks(Source(report))).caption
    assert caption == "All checks: none of the 1 that apply found anything to warn of"
