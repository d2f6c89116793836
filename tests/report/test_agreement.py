"""The section on agreement: one table a kind, intervals under the values, remarks where they are needed."""

from __future__ import annotations

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


def test_top_lists_have_a_table_of_means_and_one_of_queries() -> None:
    report = sample_report()
    a, b = (system["name"] for system in report["systems"][:2])
    query = report["queries"][0]
    rows = [
        row("lists", [a, b], "rbo", 0.416, (0.372, 0.461)),
        row("lists", [a, b], "overlap@10", 0.3, (0.25, 0.35)),
        row("lists", [a, b], "tau_ap_b", -0.125),
        row("lists_of_query", [query["query_id"], a, b], "rbo", 0.01),
        row("lists_of_query", [query["query_id"], a, b], "tau_ap_b", None),
    ]
    tables, remarks = section(rows)
    means, single = tables["agreement-lists"], tables["agreement-lists_of_query"]
    assert [column.label for column in means.columns] == ["what", "RBO", "overlap of the top 10", "τ-ap,b", "queries"]
    (cells,) = means.rows
    assert [cell.text for cell in cells] == [f"{a} and {b}", "0.42", "0.30", "−0.12", "10"]
    assert cells[1].note == "0.37 to 0.46"
    (cells,) = single.rows
    assert query["attributes"]["text"][:20] in cells[0].text
    assert [cell.text for cell in cells[1:]] == ["0.01", "—", "10"]
    assert "RBO, rank-biased overlap with p = 0.9" in remarks


def test_intervals_of_measures_are_explained() -> None:
    report = sample_report()
    names = [measure["name"] for measure in report["measures"][:2]]
    tables, remarks = section([row("measures", names, "kendall_tau_b", 0.5, (0.1, 0.8))])
    assert tables["agreement-measures"].rows[0][1].note == "0.10 to 0.80"
    assert "how far another sample of queries could move τ-b" in remarks
    assert "rank-biased" not in remarks
    plain = section([row("measures", names, "kendall_tau_b", 0.5)])[1]
    assert "another sample" not in plain


def test_a_query_without_text_is_named_by_its_id() -> None:
    report = sample_report()
    a, b = (system["name"] for system in report["systems"][:2])
    tables, _ = section([row("lists_of_query", ["no such query", a, b], "rbo", 0.5)])
    assert tables["agreement-lists_of_query"].rows[0][0].text == f"{a} and {b}, query no such query"
