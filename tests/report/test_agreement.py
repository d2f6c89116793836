"""The section on agreement: one table a kind, intervals under the values, remarks where they are needed."""

from __future__ import annotations

import itertools
from typing import Any

from rankstats.report.agreement import agreement
from rankstats.report.blocks import Paragraph, Table
from rankstats.report.source import Source
from tests.report.sample import sample_report


def section(rows: list[dict[str, Any]]) -> tuple[dict[str, Table], str]:
    report = {**sample_report(), "agreement": rows}
    blocks = agreement(Source(report)).blocks
    tables = {block.key: block for block in blocks if isinstance(block, Table)}
    return tables, " ".join(block.text for block in blocks if isinstance(block, Paragraph))


def row(
    kind: str, what: list[str], statistic: str, value: float | None, ends: tuple[float, float] | None = None
) -> dict[str, Any]:
    interval = None
    if ends:
        interval = {"low": ends[0], "high": ends[1], "level": 0.95, "method": "made", "unbounded": None}
    return {"kind": kind, "what": what, "statistic": statistic, "value": value, "interval": interval, "n": 10}


def several(systems: int = 3) -> tuple[dict[str, Any], list[str]]:
    report = sample_report(systems, 60)
    return report, [system["name"] for system in report["systems"]]


def test_top_lists_have_a_table_of_means_and_one_of_queries() -> None:
    report, (a, b, c) = several()
    query = report["queries"][0]
    rows = [
        row("lists", [a, b], "rbo", 0.416, (0.372, 0.461)),
        row("lists", [a, b], "overlap@10", 0.3, (0.25, 0.35)),
        row("lists", [a, b], "tau_ap_b", -0.125),
        row("lists", [a, c], "rbo", 0.5) | {"n": 12},
        row("lists_of_query", [query["query_id"], a, b], "rbo", 0.01),
        row("lists_of_query", [query["query_id"], a, b], "tau_ap_b", None),
    ]
    tables, remarks = section(rows)
    means, single = tables["agreement-lists"], tables["agreement-lists_of_query"]
    labels = [column.label for column in means.columns]
    assert labels == ["systems", "RBO", "overlap of the top 10", "τ-ap,b", "queries"]
    cells, other = means.rows
    assert [cell.text for cell in cells] == [f"{a} and {b}", "0.42", "0.30", "−0.12", "10"]
    assert cells[1].note == "0.37 to 0.46"
    assert [cell.text for cell in other] == [f"{a} and {c}", "0.50", "—", "—", "12"]
    (cells,) = single.rows
    assert cells[0].text.startswith(query["attributes"]["text"][:20])
    # the order of one or two common documents says nothing
    assert [column.label for column in single.columns] == ["query", "RBO"]
    assert [cell.text for cell in cells[1:]] == ["0.01"]
    assert f"documents? {a} and {b}." in single.caption
    assert "RBO, rank-biased overlap with p = 0.9" in remarks
    assert "“—”: not defined" in remarks


def test_intervals_of_measures_are_explained() -> None:
    report = sample_report()
    names = [measure["name"] for measure in report["measures"][:2]]
    tables, remarks = section([row("measures", names, "kendall_tau_b", 0.5, (0.1, 0.8))])
    assert tables["agreement-measures"].rows[0][1].note == "0.10 to 0.80"
    assert "how far another sample of queries could move τ-b" in remarks
    assert "rank-biased" not in remarks
    assert "“—”" not in remarks
    plain = section([row("measures", names, "kendall_tau_b", 0.5)])[1]
    assert "another sample" not in plain


def test_a_query_without_text_is_named_by_its_id() -> None:
    _, (a, b, _) = several()
    tables, _ = section([row("lists_of_query", ["no such query", a, b], "rbo", 0.5)])
    assert tables["agreement-lists_of_query"].rows[0][0].text == "no such query"


def test_a_value_says_what_it_rests_on_where_its_line_says_another_number() -> None:
    _, (a, b, _) = several()
    rows = [row("lists", [a, b], "rbo", 0.4) | {"n": 671}, row("lists", [a, b], "tau_ap_b", 1.0) | {"n": 1}]
    (cells,) = section(rows)[0]["agreement-lists"].rows
    assert [cell.text for cell in cells[1:]] == ["0.40", "1.00", "671"]
    assert (cells[1].note, cells[2].note, cells[2].tone) == ("", "1 query · too few", "quiet")


def test_queries_stand_in_their_natural_order_and_lists_without_a_common_document_in_one_sentence() -> None:
    _, (a, b, c) = several()
    listed = [(query, 0.02) for query in ("100", "11", "2")] + [("1", 0.5)]
    rows = [row("lists_of_query", [query, a, b], "rbo", value) for query, value in listed]
    alone, remarks = section([*rows, row("lists_of_query", ["3", a, b], "rbo", 0.0)])
    assert alone["agreement-lists_of_query"].rows[0][0].text == "3"
    assert "without any common" not in remarks
    rows += [row("lists_of_query", [str(query), a, c], "rbo", 0.0) for query in range(10)]
    few = [("4", 0.0), ("5", 0.9)]
    rows += [row("lists_of_query", [query, b, c], "rbo", value) for query, value in few]
    tables, remarks = section(rows)
    assert [cells[0].text for cells in tables["agreement-lists_of_query"].rows] == ["2", "11", "100", "1", "4", "5"]
    assert f"Queries without any common document: {a} and {c} 10 or more." in remarks
    rows += [row("lists_of_query", [query, b, c], "rbo", 0.0) for query in ("6", "7", "8")]
    tables, remarks = section(rows)
    assert [cells[0].text for cells in tables["agreement-lists_of_query"].rows] == ["2", "11", "100", "1", "5"]
    assert f"{a} and {c} 10 or more; {b} and {c} 4." in remarks
    every = [row("lists_of_query", [str(query), *pair], "rbo", 0.0) for query in range(10) for pair in ([a, b], [a, c])]
    tables, remarks = section(every)
    assert (tables, remarks) == ({}, "")


def test_a_run_given_twice_has_its_queries_once() -> None:
    _, (a, b, c) = several()
    rows = [row("lists_of_query", ["1", *pair], "rbo", 0.2) for pair in ([a, b], [a, c])]
    tables, remarks = section(rows)
    assert len(tables["agreement-lists_of_query"].rows) == 1
    assert f"{a} and {c}: the same as {a} and {b}." in remarks


def test_an_interval_has_a_width_and_one_query_is_one() -> None:
    _, (a, b, c) = several()
    rows = [row("lists", [a, other], "rbo", 0.4078, (0.4051, 0.4099)) | {"n": 1} for other in (b, c)]
    table = section(rows)[0]["agreement-lists"]
    assert (table.rows[0][1].text, table.rows[0][1].note) == ("0.408", "0.405 to 0.410 · too few")
    assert table.caption.endswith(" Over 1 query.")


def test_two_systems_have_a_sentence_instead_of_correlations() -> None:
    report, _ = several(2)
    names = [measure["name"] for measure in report["measures"][:3]]
    rows = [row("measures", list(pair), "kendall_tau_b", 1.0) | {"n": 2} for pair in itertools.pairwise(names)]
    for system, mean in zip(report["systems"], (0.4, 0.5), strict=True):
        for score in report["scores"]:
            if score["system"] == system["name"] and score["measure"] in names:
                score["mean"] = mean
    (said,) = agreement(Source(report | {"agreement": rows})).blocks
    assert isinstance(said, Paragraph)
    assert said.text.endswith(f"All 3 measures put {report['systems'][1]['name']} first.")
    for score in report["scores"]:
        if score["measure"] == names[2]:
            score["mean"] = 0.1
    (said,) = agreement(Source(report | {"agreement": rows})).blocks
    assert isinstance(said, Paragraph)
    assert "the means are equal" in said.text


def test_a_table_without_any_value_is_a_sentence() -> None:
    _, (a, b, _) = several()
    tables, remarks = section([row("systems", ["AP", a, b], "kendall_tau_b", None)])
    assert not tables
    assert remarks == "Do two systems find the same queries hard? No value is defined here."


def test_many_pairs_have_a_column_a_measure() -> None:
    report, (a, b, c) = several()
    first, second = (measure["name"] for measure in report["measures"][:2])
    rows = [
        row("systems", [measure, a, other], statistic, value) | {"n": 60}
        for measure in (first, second)
        for other in (b, c)
        for statistic, value in (("kendall_tau_b", 0.5), ("spearman", None if measure == second else 0.64))
    ]
    table = section(rows)[0]["agreement-systems"]
    assert [column.label for column in table.columns[1:]] == [m["label"] for m in report["measures"][:2]]
    assert [(cell.text, cell.note) for cell in table.rows[0]] == [(f"{a} and {b}", ""), ("0.50", "0.64"), ("0.50", "—")]
    assert table.caption.endswith("Kendall τ-b, below Spearman ρ, over 60 queries.")
