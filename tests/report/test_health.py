"""Data health: what is told of judgments, and nothing of them where there are none."""

from __future__ import annotations

from typing import Any

from rankstats import compare_scores
from rankstats.report.blocks import Paragraph, Table
from rankstats.report.model import page_model
from tests.experiment.made import readout, units
from tests.report.sample import sample_report


def health(report: dict[str, Any]) -> dict[str, Table]:
    (section,) = [section for section in page_model(report).sections if section.key == "health"]
    return {block.key: block for block in section.blocks if isinstance(block, Table)}


def remarks(report: dict[str, Any]) -> list[str]:
    (section,) = [section for section in page_model(report).sections if section.key == "health"]
    return [block.text for block in section.blocks if isinstance(block, Paragraph)]


def words(table: Table) -> str:
    heads = " ".join(f"{column.label} {column.note}" for column in table.columns)
    return f"{heads} {' '.join(cell.text for row in table.rows for cell in row)}"


def test_of_ready_made_values_nothing_is_said_of_judgments() -> None:
    rows = [(f"q{n}", s, "AP", n / 40 + more) for n in range(20) for s, more in (("a", 0.0), ("b", 0.1))]
    report = compare_scores(rows, resamples=199).to_dict()
    found = health(report)
    counts = {row[0].text: row[1].text for row in found["counts"].rows}
    assert counts == {"queries with values": "20", "rows of scores read": "40"}
    assert "judg" not in words(found["counts"]) + found["counts"].caption
    assert "systems" not in found
    assert remarks(report) == ["For both systems: no query missing."]


def test_a_column_of_zeros_is_a_sentence() -> None:
    report = sample_report()
    systems = [system["name"] for system in report["systems"]]
    report["audit"]["queries"]["missing"] = {system: [] for system in systems}
    (told,) = [text for text in remarks(report) if text.startswith(f"For all {len(systems)} systems: no query missing")]
    assert "missing queries" not in words(health(report)["systems"])
    report["audit"]["queries"]["missing"][systems[0]] = [report["queries"][0]["query_id"]]
    assert told not in remarks(report)
    assert "missing queries" in words(health(report)["systems"])


def test_what_a_check_warns_of_is_said_once() -> None:
    rows = units()
    rows[17] |= {"revenue": 4000.0}
    report = readout(rows, "revenue").to_dict()
    found = health(report)
    (message,) = [row["message"] for row in report["warnings"] if row["code"] == "dominant_unit"]
    assert message in words(found["warnings"])
    assert message not in words(found["evidence-checks"])
    assert "as said above" in words(found["evidence-checks"])


def test_of_runs_it_is_said_what_the_unjudged_share_is_of() -> None:
    report = sample_report()
    found = health(report)
    assert "judged queries" in {row[0].text for row in found["counts"].rows}
    (note,) = [column.note for column in found["systems"].columns if column.label.startswith("unjudged")]
    assert note == "of the documents listed"
    assert not [text for text in remarks(report) if "Judged@10" in text]
    report["measures"].append({**report["measures"][0], "name": "Judged@10", "label": "Judged@10", "diagnostic": True})
    system = report["systems"][0]["name"]
    report["audit"]["queries"]["missing"] = {system: [report["queries"][0]["query_id"]]}
    (remark,) = [text for text in remarks(report) if "Judged@10" in text]
    assert remark.endswith("Judged@10 is a mean over queries, to which a missing query adds 0.")


def test_a_check_repeats_no_warning() -> None:
    report = sample_report()
    report["warnings"] = [{"code": "ties", "severity": "warning", "message": "Scores are tied.", "where": "a"}]
    told = {"code": "ties", "question": "Ties?", "outcome": "warning", "found": "Scores are tied."}
    report["checks"] = [told, told | {"found": "Scores are tied. (2 more among the warnings)"}, told | {"found": "No."}]
    table = health(report)["evidence-checks"]
    assert [row[2].text for row in table.rows] == ["as said above", "as said above", "No."]
    assert table.folded
