"""Tables say each thing once, explain what is missing, and agree with what stands beside them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rankstats.report import rows as difference_rows
from rankstats.report.blocks import Block, Code, Column, Paragraph, Table, Terms
from rankstats.report.comparisons import pairwise, segments
from rankstats.report.glossary import glossary
from rankstats.report.means import scoreboard
from rankstats.report.method import method
from rankstats.report.outcomes import outcomes
from rankstats.report.rows import difference_cells, difference_columns, forest_row
from rankstats.report.source import Source
from rankstats.report.terminal import render_terminal
from tests.report.kinds import report as made
from tests.report.sample import MEASURES, sample_report

Report = dict[str, Any]
PRIMARY = MEASURES[0][0]


def tables(blocks: tuple[Block, ...]) -> dict[str, Table]:
    found = [block if isinstance(block, Table) else getattr(block, "table", None) for block in blocks]
    return {table.key: table for table in found if isinstance(table, Table)}


def remarks(blocks: tuple[Block, ...]) -> str:
    return " ".join(block.text for block in blocks if isinstance(block, Paragraph))


def labels(columns: tuple[Column, ...]) -> list[str]:
    return [column.label for column in columns]


# ── differences ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_lone_claim_has_no_adjusted_p_and_no_second_interval() -> None:
    row = sample_report(2, 40)["differences"][0]
    row |= {"p_adjusted": row["p_value"], "correction": "none", "adjusted_interval": row["interval"]}
    columns = difference_columns(("system",), [row])
    assert "adj. p" not in labels(columns)
    assert not any(column.note for column in columns)
    other = row | {"p_adjusted": row["p_value"], "correction": "bh"}
    assert "adj. p" in labels(difference_columns(("system",), [other]))


def test_the_smallest_p_of_a_family_is_called_adjusted_though_it_stays_as_it_is() -> None:
    report = sample_report(3, 40)
    row = report["differences"][0] | {"p_value": 0.0001, "p_adjusted": 0.0001, "correction": "bootstrap-max-t"}
    assert "adjusted p < .001" in forest_row(Source(report), row, "x").spoken


def test_a_forest_shows_the_interval_that_goes_with_not_shown() -> None:
    report = sample_report(3, 40)
    row = report["differences"][0]
    row["interval"] |= {"low": 0.002, "high": 0.04}
    row["adjusted_interval"] |= {"low": -0.002, "high": 0.044}
    report["verdict"] = []
    row |= {"p_value": 0.03, "p_adjusted": 0.06, "difference": 0.02}
    assert forest_row(Source(report), row, "x").interval == "simult. −0.002 to +0.044"
    row |= {"p_adjusted": 0.04}
    row["adjusted_interval"] |= {"low": 0.001}
    assert forest_row(Source(report), row, "x").interval == "+0.002 to +0.040"


def test_tests_of_other_measures_are_told_apart() -> None:
    report = sample_report(2, 40)
    rows = [row for row in report["differences"] if row["segment"] is None]
    assert difference_rows.tests_line(Source(report), rows).startswith("Test: paired t test. ")
    rows[0]["test"] = "quantile"
    told = difference_rows.tests_line(Source(report), rows)
    assert told.startswith(f"Tests: delta method for quantiles of clustered rows ({report['measures'][0]['label']}); ")


def test_one_pair_and_one_n_stand_in_the_caption() -> None:
    report = sample_report(2, 60, segments=False)
    for row in report["differences"]:
        row["n"] = 60
    table = tables(pairwise(Source(report)).blocks)["pairs-other"]
    a, b = (system["name"] for system in report["systems"])
    assert table.caption == f"The other measures: {b} against {a}, n = 60"
    assert labels(table.columns)[:3] == ["measure", "baseline mean", "system mean"]
    assert "n " in render_terminal(report)


def test_lower_is_better_and_guards_are_said_at_every_table() -> None:
    report = made("experiment")
    guard = next(row for row in report["differences"] if row["family"] == "guards")
    report["measures"] = [m | {"higher_is_better": m["name"] != guard["measure"]} for m in report["measures"]]
    source = Source(report)
    blocks = pairwise(source).blocks
    notes = {row[0].text: row[0].note for row in tables(blocks)["pairs-other"].rows}
    assert notes[source.measure_label(guard["measure"])] == (
        "guard · lower\N{NO-BREAK SPACE}is\N{NO-BREAK SPACE}better"
    )
    assert "Guards: " in remarks(blocks)
    assert "Whether a guard holds: see “Guards”." in remarks(blocks)
    matrix = next(table for key, table in tables(segments(source).blocks).items() if key.endswith("-measures"))
    assert [column.note for column in matrix.columns].count("lower is better") == 1


def test_losses_by_segment_are_named_above_the_folded_table() -> None:
    report = sample_report(2, 120)
    source = Source(report)
    other = source.outcome_measures[1]
    for row in report["differences"]:
        if row["segment"] and row["measure"] != PRIMARY:
            row |= {"p_adjusted": 1.0}
    lost = next(row for row in report["differences"] if row["segment"] and row["measure"] == other)
    lost |= {"p_adjusted": 0.016, "p_value": 0.01, "difference": -0.05}
    blocks = segments(Source(report)).blocks
    name = next(s["label"] for s in report["segments"] if s["value"] == lost["segment"]["value"])
    said = remarks(blocks)
    assert f"shown worse: {source.measure_label(other)} on {name} (−0.050, adjusted p = .016)." in said
    lost["p_adjusted"] = 1.0
    assert "no segment is shown worse" in remarks(segments(Source(report)).blocks)


def test_the_share_is_explained_in_its_own_column() -> None:
    report = sample_report(2, 60)
    table = next(t for key, t in tables(segments(Source(report)).blocks).items() if key == "segments-1-table")
    share = next(column for column in table.columns if column.label == "share")
    assert share.note == "length: of all queries; popularity: of all traffic"


def test_too_few_have_no_adjusted_p_and_no_interval_without_ends() -> None:
    report = sample_report(3, 40)
    row = report["differences"][0]
    nothing = row["interval"] | {"low": None, "high": None, "unbounded": "both"}
    few = row | {"n": 5, "interval": nothing, "adjusted_interval": None, "correction": "holm"}
    source = Source(report)
    columns = labels(difference_columns(("system",), [few]))
    cells = dict(zip(columns, difference_cells(source, few, ("x",), [few]), strict=True))
    assert cells["adj. p"].text == "—"
    assert cells["95\N{NO-BREAK SPACE}% interval"].text == "—"
    assert forest_row(source, few, "x").interval == "—"
    assert "no interval" in forest_row(source, few, "x").spoken


def test_a_column_of_relative_differences_has_one_unit_above_twice() -> None:
    report = sample_report(3, 40)
    rows = [report["differences"][0] | {"relative_difference": share} for share in (19.0, 3.08, 0.5)]
    columns = difference_columns(("system",), rows)
    place = labels(columns).index("relative")
    texts = [difference_cells(Source(report), row, ("x",), rows)[place].text for row in rows]
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts] == ["20 times", "4.1 times", "+50 %"]
    assert columns[place].note == "times: as large as the baseline"
    texts = [difference_cells(Source(report), row, ("x",), rows[1:])[place].text for row in rows[1:]]
    assert texts[0].startswith("+308")


def test_a_row_alone_says_in_the_caption_what_it_is_about() -> None:
    report = sample_report(2, 60, segments=False)
    report["measures"] = report["measures"][:2]
    for key in ("differences", "scores"):
        report[key] = [r for r in report[key] if r["measure"] in {m["name"] for m in report["measures"]}]
    a, b = (system["name"] for system in report["systems"])
    table = tables(pairwise(Source(report)).blocks)["pairs-other"]
    assert len(table.rows) == 1
    assert table.caption.startswith(f"The other measures: {b} against {a}, n = ")
    counts = tables(outcomes(Source(report)).blocks)["outcomes-other"]
    assert labels(counts.columns)[:2] == ["measure", "better"]
    assert f"{b} against {a}" in counts.caption


def test_many_rows_of_other_measures_stand_best_first() -> None:
    report = sample_report(names=tuple(f"run{i:02d}" for i in range(12)), queries=30, segments=False, lists=False)
    report["differences"] = [r for r in report["differences"] if r["baseline"] == "run00"]
    kept = {row["id"] for row in report["differences"]}
    report["verdict"] = [v for v in report["verdict"] if v["difference_id"] in kept]
    source = Source(report)
    found = tables((*pairwise(source).blocks, *outcomes(source).blocks))
    other = source.outcome_measures[1]
    effects = {row["system"]: row["difference"] for row in report["differences"] if row["measure"] == other}
    wanted = sorted(effects, key=lambda name: -effects[name])
    for key in ("pairs-other", "outcomes-other"):
        told = [row[1].text for row in found[key].rows if row[0].text == source.measure_label(other)]
        assert told == wanted
        assert found[key].caption.endswith(", the best differences first")


# ── counts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_counts_as_equal_is_said_once() -> None:
    report = sample_report(3, 40)
    for row in report["differences"]:
        row["tie_tolerance"] = 1.2e-10
    blocks = outcomes(Source(report)).blocks
    table = tables(blocks)["outcomes-other"]
    assert labels(table.columns) == ["measure", "system", "better", "equal", "worse"]
    assert table.caption.endswith(f"on the other measures against {report['baseline']}")
    assert remarks(blocks).count("Equal: apart by no more than rounding (10⁻⁹).") == 2
    next(row for row in report["differences"] if row["measure"] != PRIMARY)["tie_tolerance"] = 0.05
    table = tables(outcomes(Source(report)).blocks)["outcomes-other"]
    assert {row[-1].text for row in table.rows} == {"rounding", "±0.05"}


# ── means ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_interval_of_means_stays_within_the_range_of_its_measure() -> None:
    report = sample_report(2, 40)
    report["measures"][0]["definition"]["range"] = "0 to 1"
    for row in report["scores"]:
        row["interval"] = row["interval"] | {"low": 0.97, "high": 1.01}
    cells = [row[1] for row in tables(scoreboard(Source(report)).blocks)["means"].rows]
    assert {cell.note for cell in cells} == {"0.970 to 1.000"}
    for row in report["scores"]:
        row["interval"] |= {"low": -0.001, "high": 0.006}
    assert tables(scoreboard(Source(report)).blocks)["means"].rows[0][1].note == "0.000 to 0.006"
    for row in report["scores"]:
        row["interval"] |= {"low": 1.0, "high": 1.0}
    assert tables(scoreboard(Source(report)).blocks)["means"].rows[0][1].note == "no spread"


def test_ranks_without_intervals_say_the_true_reason() -> None:
    report = sample_report(3, 40)
    for row in report["ranks"]:
        row |= {"low": None, "high": None, "may_be_best": None}
    few = remarks(scoreboard(Source(report)).blocks)
    assert "there are too few queries to say how certain the ranks are" in few
    claim = next(row for row in report["differences"] if row["measure"] == PRIMARY and row["segment"] is None)
    claim["withheld"] = "the judgments may have leaked"
    label = report["measures"][0]["label"]
    withheld = remarks(scoreboard(Source(report)).blocks)
    assert f"No rank intervals on {label}: a verdict there is withheld." in withheld
    assert "too few" not in withheld


def test_a_system_ruled_out_as_best_whose_bracket_begins_at_one_is_explained() -> None:
    report = sample_report(3, 40)
    for row in report["ranks"]:
        row |= {"low": 1, "high": 2, "may_be_best": True}
    assert "sharper test" not in remarks(scoreboard(Source(report)).blocks)
    report["ranks"][-1]["may_be_best"] = False
    assert "ruled out although its bracket begins at 1" in remarks(scoreboard(Source(report)).blocks)


def test_the_scoreboard_says_which_differences_are_adjusted() -> None:
    source = Source(made("experiment"))
    said = remarks(scoreboard(source).blocks)
    assert "These means are as measured; the differences in revenue are adjusted for past." in said
    primary = next(table for key, table in tables(pairwise(source).blocks).items() if key == "pairs-1-table")
    means = [i for i, column in enumerate(primary.columns) if column.label.endswith("mean")]
    assert {primary.rows[0][i].note for i in means} == {"adjusted"}


def test_means_without_intervals_are_not_said_to_have_any() -> None:
    report = sample_report(2, 40)
    for row in report["scores"]:
        row |= {"n": 3, "interval": row["interval"] | {"low": None, "high": None, "unbounded": "both"}}
    blocks = scoreboard(Source(report)).blocks
    table = tables(blocks)["means"]
    assert "interval" not in table.caption
    assert "The intervals are" not in remarks(blocks)
    assert not any(cell.badge for row in table.rows for cell in row)


# ── method ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_measures_of_one_meaning_are_told_apart_and_have_their_own_cutoff() -> None:
    report = sample_report(2, 40)
    for measure, gain in zip(report["measures"], ("the grade; 0 else", "2^grade − 1; 0 else"), strict=False):
        measure["definition"] = {"meaning": "Gain of the first k documents", "cutoff": "k = 10", "gain": gain}
    rows = tables(method(Source(report)).blocks)["measure-definitions"].rows
    assert [row[1].text for row in rows[:2]] == [
        "Gain of the first 10 documents; gain: the grade",
        "Gain of the first 10 documents; gain: 2^grade − 1",
    ]


def test_of_values_as_given_nothing_is_claimed() -> None:
    report = sample_report(2, 40)
    report["reproduction"]["plan"] |= {"inputs": {"scores": ["s.csv"]}, "conventions": {"ties": "doc_id"}}
    report["measures"][0]["definition"] = {"meaning": "Average precision", "range": "0 to 1"}
    blocks = method(Source(report)).blocks
    found = tables(blocks)
    assert found["measure-definitions"].rows[0][1].text == (
        "Values as given, not computed here. Named like: Average precision"
    )
    assert not [key for key in found if key.startswith("measure-") and key != "measure-definitions"]
    plan = next(block.text for block in blocks if isinstance(block, Code) and block.label.startswith("The plan"))
    assert "ties" not in plan
    assert "s.csv" in plan


def test_a_decision_brings_its_policy_its_family_and_its_terms() -> None:
    report = made("no-go")
    source = Source(report)
    blocks = method(source).blocks
    policy = next(block.text for block in blocks if isinstance(block, Code) and "--policy" in block.label)
    assert "[[claim]]" in policy
    assert "margin = 0.02" in policy
    rules = tables(blocks)["families"].rows[-1]
    assert rules[0].text == "rules of the policy"
    assert int(rules[-1].text) == sum(bool(rule["family_interval"]) for rule in report["decision"]["rules"])
    terms = {term for term, _ in glossary(source)}
    assert {"claim", "guard", "floor", "evidence", "holds, fails, open"} <= terms
    assert not {"claim", "floor", "withheld"} & {term for term, _ in glossary(Source(made("comparison")))}


@pytest.mark.parametrize("kind", ["comparison", "experiment", "interleaving"])
def test_the_glossary_explains_only_what_occurs(kind: str) -> None:
    report = made(kind)
    assert not {"withheld", "equivalent"} & {term for term, _ in glossary(Source(report))}
    report["differences"][0]["withheld"] = "a reason"
    assert "withheld" in {term for term, _ in glossary(Source(report))}


def test_other_tests_stand_in_the_order_of_the_page_and_name_one_claim_once() -> None:
    report = sample_report(2, 40)
    claim = next(row for row in report["differences"] if row["measure"] == PRIMARY and row["segment"] is None)
    interval = claim["interval"]
    claim["also"] = [
        {"test": "wilcoxon", "p_value": 0.004, "interval": interval | {"low": 0.0, "high": 0.0}},
        {"test": "bootstrap", "p_value": 0.03, "interval": interval},
    ]
    blocks = method(Source(report)).blocks
    table = tables(blocks)["also"]
    assert labels(table.columns) == ["procedure", "p", "95\N{NO-BREAK SPACE}% interval"]
    assert table.caption.endswith(f"{claim['system']} against {claim['baseline']}, {report['measures'][0]['label']}")
    assert "sets equal queries aside" in remarks(blocks)
    many = sample_report(8, 40)
    for row in many["differences"]:
        row["also"] = [{"test": "bootstrap", "p_value": 0.03, "interval": None}]
    rows = tables(method(Source(many)).blocks)["also"].rows
    effects = {row["system"]: row["difference"] for row in many["differences"] if row["measure"] == PRIMARY
               and row["segment"] is None}  # fmt: skip
    order = [row[0].text.split(" against ")[0] for row in rows]
    assert order == sorted(order, key=lambda system: -effects[system])
    assert labels(tables(method(Source(many)).blocks)["also"].columns) == ["comparison", "procedure", "p"]


def test_versions_have_a_heading() -> None:
    blocks = method(Source(copy.deepcopy(made("comparison")))).blocks
    place = next(i for i, block in enumerate(blocks) if getattr(block, "text", "") == "Versions")
    assert isinstance(blocks[place + 1], Terms)
