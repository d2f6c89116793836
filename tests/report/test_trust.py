"""Evidence about the claims: the sentence over each table answers its question, and agrees with the table."""

from __future__ import annotations

from typing import Any

import pytest

from rankstats.report import trust
from rankstats.report.blocks import Block, Cell, Paragraph, Subheading, Table
from rankstats.report.carriers import carriers
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
    strongest = [{"query_id": f"{i}", "difference": 0.5 - i / 10, "share": 0.1} for i in range(5)]
    found = {
        "median": 0.0, "trimmed_mean": row["difference"], "trim": 0.2, "side": "gain", "movers": 50, "half": 17,
        "carriers": strongest,
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
        ({"worst_outcome": "not_shown"}, "Only if all of them had", "none [some of the highest grade do]"),
        ({"to_turn": 23, "turns_to": "not_shown", "likely": 59.2}, "Yes: 23 relevant documents", "23 [to not shown]"),
        ({"to_turn": 60, "turns_to": "not_shown", "likely": 59.2}, "Hardly: it takes 60", "60 [to not shown]"),
        ({"to_turn": 1, "turns_to": "worse"}, "Yes: 1 relevant document would turn the verdict.", "1 [to worse]"),
        (
            {"verdict": "not_shown", "to_turn": 3, "turns_to": "better"},
            "Yes: with 3 relevant documents more the difference would be shown.",
            "3 [to better]",
        ),
    ],
)
def test_whether_unjudged_documents_turn_a_verdict(changes: Content, answer: str, cell: str) -> None:
    report = report_of(systems=2)
    report["coverage"] = [coverage(report, **changes)]
    blocks = trust.unjudged(Source(report))
    assert answer_of(blocks).startswith(answer)
    assert line(table_of(blocks).rows[0][5:6]) == cell
    assert table_of(blocks).rows[0][2].text == "1.4\xa0% and 2.0\xa0%"


def test_of_several_verdicts_each_is_counted_once_and_named_the_worst_first() -> None:
    report = report_of(systems=6)
    turned = {"to_turn": 5, "turns_to": "worse", "verdict": "better"}
    kinds: list[Content] = [{**turned, "likely": 4.0}, {**turned, "likely": 5.0}, turned, {"worst_outcome": "?"}, {}]
    report["coverage"] = [coverage(report, place, **kind) for place, kind in enumerate(kinds)]
    told = answer_of(trust.unjudged(Source(report)))
    names = [claim(report, place)["system"] for place in range(5)]
    likely = f"Yes, 1 of 5 ({names[1]}): as many unjudged documents as it takes are likely relevant."
    assert told.startswith(f"{likely} 1 more ({names[2]}): some")
    assert told.count(" 1 more (") == 3
    assert told.endswith("The other stays in any case.")
    report["coverage"] = [coverage(report, place, **turned, likely=9.0) for place in range(5)]
    told = answer_of(trust.unjudged(Source(report)))
    assert told == "Yes, all 5: as many unjudged documents as it takes are likely relevant."


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
    as_judged, otherwise = table_of(trust.condensed(source)).rows[0][2:4]
    assert (as_judged.note, otherwise.note) == ("withheld (would be worse)", "would be worse")
    assert table_of(trust.mixes(source)).rows[0][-1].text == "withheld"


def test_of_too_few_queries_no_evidence_is_shown() -> None:
    report = report_of(systems=2, queries=9)
    report["coverage"], report["condensed"] = [coverage(report)], [condensed(report)]
    report["tie_effects"], report["robustness"] = [tie_effect(report)], [robustness(report)]
    source = Source(report)
    assert trust.unjudged(source) + trust.condensed(source) + trust.ties(source) + carriers(source) == []


def test_the_interval_of_condensed_lists_is_a_column_of_numbers() -> None:
    report = report_of(systems=2)
    report["condensed"], report["post_stratified"] = [condensed(report)], [mix(report)]
    for blocks in (trust.condensed(Source(report)), trust.mixes(Source(report))):
        assert table_of(blocks).columns[4].label == "95\xa0% interval"
        assert table_of(blocks).columns[4].number
    assert table_of(trust.condensed(Source(report))).rows[0][1].text == "38,587 and 36,615"


def test_a_claim_that_is_not_shown_has_the_interval_that_goes_with_it() -> None:
    report = report_of(systems=2)
    interval = claim(report)["interval"]
    own, joint = {**interval, "low": 0.01, "high": 0.2}, {**interval, "low": -0.02, "high": 0.23}
    found = {"interval": own, "adjusted_interval": joint, "outcome": "not_shown"}
    report["condensed"] = [condensed(report, **found)]
    cell = table_of(trust.condensed(Source(report))).rows[0][4]
    assert (cell.text, cell.note) == ("+0.010 to +0.200", "simult. −0.020 to +0.230")
    report["condensed"] = [condensed(report, **{**found, "outcome": "better"})]
    assert table_of(trust.condensed(Source(report))).rows[0][4].note == ""


def test_ties_that_change_nothing_that_is_shown_are_counted_only() -> None:
    report = report_of(systems=3)
    report["tie_effects"] = [tie_effect(report, 0), tie_effect(report, 1, low=0.01, high=0.0100001)]
    blocks = trust.ties(Source(report))
    assert [line(row[3:]) for row in table_of(blocks).rows] == ["+0.010 | +0.020 | the same"]
    heading, _, _, remark = blocks
    assert isinstance(heading, Subheading)
    assert answer_of(blocks) == "Hardly: it changes 1 difference in the digits shown, but no verdict."
    assert isinstance(remark, Paragraph)
    assert remark.small
    assert remark.text.endswith("1 other difference stays the same in the digits shown.")
    report["tie_effects"] = report["tie_effects"][1:]
    assert answer_of(trust.ties(Source(report))) == "No: it changes no difference in the digits shown."


def test_a_tie_that_turns_a_verdict_is_shown_whatever_its_digits() -> None:
    report = report_of(systems=2)
    report["tie_effects"] = [tie_effect(report, low=0.01, high=0.0100001, turns_to="not_shown")]
    blocks = trust.ties(Source(report))
    assert table_of(blocks).rows[0][-1].text == "can be not shown"
    assert answer_of(blocks) == "Yes: it could turn 1 verdict."


@pytest.mark.parametrize(("share", "answer"), [(0.9, "No"), (0.5, "No"), (0.49, "Yes"), (-0.2, "Yes")])
def test_few_queries_carry_a_mean_that_falls_below_half_without_them(share: float, answer: str) -> None:
    report = report_of(systems=2)
    row = claim(report)
    report["robustness"] = [robustness(report, trimmed_mean=share * row["difference"])]
    blocks = carriers(Source(report))
    told = answer_of(blocks)
    mean, _, trimmed = (cell.text for cell in table_of(blocks).rows[0][1:4])
    assert told.startswith(f"{answer}: half of all gains comes from 17 of {row['n']} queries; without the 20\xa0% ")
    assert f" most extreme queries on each side hybrid's {mean} on " in told
    assert told.endswith(f" is {trimmed}.")
    cells = table_of(blocks).rows[0]
    assert cells[4].text == "17 of 50 queries with gains"
    assert cells[5].text == "0\xa0(+0.500), 1\xa0(+0.400), 2\xa0(+0.300)"


def test_a_verdict_that_hangs_on_one_query_is_told_beside_a_mean_that_does_not() -> None:
    report = report_of(systems=3)
    rows = [claim(report, place) for place in range(2)]
    label = next(m["label"] for m in report["measures"] if m["name"] == rows[0]["measure"])
    report["warnings"] = [
        {
            "code": "one_query_carries",
            "severity": "warning",
            "message": "The verdict hangs on one query: without q7 the difference is not shown.",
            "where": f"{row['system']} against {row['baseline']}, {label}",
        }
        for row in rows
    ]
    report["robustness"] = [robustness(report)]
    told = answer_of(carriers(Source(report)))
    assert told.startswith("The mean is not: half of all gains comes from 17 ")
    assert told.endswith(" The verdict is: without q7 the difference is not shown.")
    for verdict in report["verdict"]:
        verdict["outcome"] = "better"
    report["robustness"] = [robustness(report, place) for place in range(2)]
    told = answer_of(carriers(Source(report)))
    assert told.startswith("The means are not: without the 20\xa0% most extreme queries on each side each of the 2 ")
    names = ", ".join(row["system"] for row in rows)
    assert told.endswith(f" The verdicts of 2 comparisons hang on one query ({names}; see “Data health”).")


def test_a_query_that_a_system_did_not_answer_is_marked_among_the_strongest() -> None:
    report = report_of(systems=2)
    report["audit"]["queries"]["missing"] = {"keyword": ["1"], "hybrid": []}
    report["robustness"] = [robustness(report)]
    named = table_of(carriers(Source(report))).rows[0][5].text.replace("\xa0", " ")
    assert named == "0 (+0.500), 1 (+0.400, keyword missing), 2 (+0.300)"


def test_carried_means_are_named_and_the_best_comparison_comes_first() -> None:
    report = report_of(systems=8)
    effects = [claim(report, place)["difference"] for place in range(7)]
    report["robustness"] = [
        robustness(report, place, trimmed_mean=effects[place] * (0.1 if place == 1 else 1)) for place in range(7)
    ]
    for verdict in report["verdict"]:
        verdict["outcome"] = "better"
    blocks = carriers(Source(report))
    assert answer_of(blocks).startswith("In part: without the 20\xa0% most extreme queries on each side 1 of 7 ")
    assert answer_of(blocks).endswith(" less than half of the size (neural).")
    means = [float(row[1].text.replace("−", "-")) for row in table_of(blocks).rows]
    assert means == sorted(means, reverse=True)


def test_without_a_trimmed_mean_nothing_is_answered() -> None:
    report = report_of(systems=2)
    report["robustness"] = [robustness(report, median=None, trimmed_mean=None)]
    (table,) = carriers(Source(report))
    assert isinstance(table, Table)


def test_shares_of_a_mix_have_the_decimals_of_a_column() -> None:
    report = report_of(systems=2)
    report["post_stratified"] = [mix(report, mix={"a": 0.157, "b": 0.033, "c": 0.81})]
    assert table_of(trust.mixes(Source(report))).rows[0][1].text == "kind: a 15.7\xa0%, b 3.3\xa0%, c 81.0\xa0%"


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
