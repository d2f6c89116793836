"""A decision as sentence, JSON, JUnit XML, page and assertion."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from rankstats.decision import Decision, decide, policy_from_document
from rankstats.report import render_html, render_markdown
from rankstats.report.junit import render_junit
from rankstats.testing import assert_go
from tests.decision.made import Content, claim, guard, noise, pair, policy_of, report_of

MIXED = policy_of(claim=[claim()], guard=[guard(0.02, id="open"), guard(0.001, id='<"&\x00\x1f > fails')])


@pytest.fixture(scope="module")
def report() -> Content:
    return report_of(pair(noise(60, -0.03, 0.08)))


@pytest.fixture(scope="module")
def decision(report: Content) -> Decision:
    return decide(report, policy_from_document(MIXED))


def test_the_decision_fits_the_schema(report: Content, decision: Decision) -> None:
    schema = json.loads(
        importlib.resources.files("rankstats.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    )
    content = json.loads(json.dumps(decision.to_dict(), allow_nan=False))
    jsonschema.Draft202012Validator(schema).validate({**report, "decision": content})
    keys = (
        "id",
        "kind",
        "measure",
        "segment",
        "asked",
        "observed",
        "interval",
        "outcome",
        "queries_needed",
        "sentence",
    )
    assert all(set(keys) <= set(rule) for rule in content["rules"])
    assert (content["outcome"], content["baseline"], content["candidate"]) == ("no_go", "prod", "new")


def test_the_first_line_names_what_decides(report: Content) -> None:
    def line(**rules: list[Content]) -> str:
        return decide(report, policy_from_document(policy_of(**rules))).sentence.replace("\N{NO-BREAK SPACE}", " ")

    assert line(guard=[guard(0.1)]) == "GO: all 3 rules hold."
    failed = line(guard=[guard(0.001, id="tail")])
    assert failed.startswith('NO-GO: "tail" fails — AP falls by 0.030 (95 % interval −0.0')
    assert failed.endswith("a fall of up to 0.001 is allowed).")
    undecided = line(guard=[guard(0.04, id="tail")])
    assert undecided.startswith('CANNOT TELL: "tail" is open — AP falls by 0.030')
    assert undecided.endswith("more queries would settle it, 4 times in 5, if nothing else changes.")
    many = line(guard=[guard(0.001, id=f"g{k}") for k in range(6)])
    assert many.count("falls by") == 3
    assert many.endswith("; 3 more fail.")


def test_junit_is_well_formed_and_has_one_case_a_rule(decision: Decision) -> None:
    for open_fails in (False, True):
        text = render_junit(decision.to_dict(), open_fails=open_fails)
        root = ET.fromstring(text.encode("utf-8"))
        assert root.tag == "testsuites"
        (suite,) = root
        cases = list(suite)
        assert [case.tag for case in cases] == ["testcase"] * len(decision.rules)
        names = [case.get("name") for case in cases]
        assert names == [
            *(rule.id for rule in decision.rules[:-1]),
            '<"&\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} > fails',
        ]
        assert len(set(names)) == len(names)
        assert {case.get("classname") for case in cases} == {
            "rankstats.gate.evidence",
            "rankstats.gate.claim",
            "rankstats.gate.guard",
        }
        kinds = ["failure", "skipped", "error"]
        found = {rule.outcome: [] for rule in decision.rules}
        for case, rule in zip(cases, decision.rules, strict=True):
            found[rule.outcome].append([child.tag for child in case if child.tag in kinds])
        assert all(tags == [] for tags in found["holds"])
        assert all(tags == ["failure"] for tags in found["fails"])
        assert all(tags == (["failure"] if open_fails else ["skipped"]) for tags in found["open"])
        counts = {tag: len(root.findall(f".//{tag}")) for tag in kinds}
        for element in (root, suite):
            assert element.get("tests") == str(len(cases))
            assert element.get("failures") == str(counts["failure"])
            assert element.get("skipped") == str(counts["skipped"])
            assert element.get("errors") == "0"
        failure = root.find(".//failure[@type='fails']")
        assert failure is not None
        assert "AP falls by 0.030" in (failure.text or "")


def test_page_and_summary_begin_with_the_decision(report: Content, decision: Decision) -> None:
    decided = {**report, "decision": decision.to_dict()}
    page, summary = render_html(decided), render_markdown(decided)
    assert page.index("NO-GO") < page.index("is worse than")
    assert summary.index("NO-GO") < summary.index("is worse than")
    for rule in decision.rules[:-1]:
        assert (rule.title or rule.id) in summary
        assert (rule.title or rule.id) in page
    assert "&lt;&#34;&amp;" in page
    assert "NO-GO" not in render_html(report)


def test_assert_go_passes_and_lists_what_does_not_hold(report: Content, tmp_path: Path) -> None:
    fine = policy_of(guard=[guard(0.1)])
    assert assert_go(report, fine).outcome == "go"
    path = tmp_path / "p.toml"
    path.write_text(
        'baseline = "prod"\ncandidate = "new"\n[[guard]]\nid = "g"\nmeasure = "AP"\nmargin = 0.1\n', encoding="utf-8"
    )
    assert assert_go(report, path).outcome == "go"
    assert assert_go(report, policy_from_document(fine)).outcome == "go"
    with pytest.raises(AssertionError) as raised:
        assert_go(
            report, policy_of(claim=[claim(id="better")], guard=[guard(0.04, id="perhaps"), guard(0.1, id="fine")])
        )
    lines = str(raised.value).splitlines()
    assert lines[0] == "NO-GO: 2 of 5 rules do not hold"
    assert lines[1].startswith('  fails "better": AP falls by')
    assert lines[2].startswith('  open "perhaps": AP falls by')
    with pytest.raises(AssertionError, match="CANNOT TELL: 1 of 3 rules does not hold"):
        assert_go(report, policy_of(guard=[guard(0.04)]))
