"""What keeps a first screen short: warnings that are alike stand together, rules that hold are folded, one sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rankstats import wording
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.notices import notices, warned
from rankstats.report.source import Source
from rankstats.report.terminal import render_terminal
from rankstats.report.verdict import heterogeneity_words
from tests.report.kinds import report
from tests.report.reading import Page
from tests.report.sample import sample_report


def alike(n: int, code: str = "corrections_disagree", severity: str = "warning") -> list[dict[str, Any]]:
    return [
        {"code": code, "severity": severity, "message": f"It depends ({i}).", "where": f"s{i} against base, AP"}
        for i in range(n)
    ]


def test_warnings_that_are_alike_stand_together_and_none_is_lost() -> None:
    made = sample_report() | {"warnings": [*alike(26), *alike(2, "tests_disagree"), *alike(3, "ties_decide", "info")]}
    kept = copy.deepcopy(made["warnings"])
    messages = [notice.message for notice in notices(Source(made))]
    assert messages == [
        "The verdict depends on the correction in 26 comparisons; the first is s0 against base, AP.",
        "It depends (0).",
        "It depends (1).",
        "The order of tied scores changes the difference of 3 comparisons; the first is s0 against base, AP.",
    ]
    assert page_model(made).notices_heading == "4 things to know"
    page = Page(render_html(made))
    assert len(page.tables["warnings"]) == 1 + 4
    assert [row[0] for row in page.tables["warnings-1"][1:]] == [f"s{i} against base, AP" for i in range(26)]
    assert [row[1] for row in page.tables["warnings-1"][1:]] == [f"It depends ({i})." for i in range(26)]
    assert len(page.tables["warnings-2"]) == 1 + 3
    assert "One by one: The verdict depends on the correction in 26 comparisons" in render_html(made)
    assert "One by one: The verdict depends on the correction in 26 comparisons; the first" not in render_html(made)
    for text in (render_terminal(made), render_markdown(made)):
        assert "26 comparisons" in text
    assert made["warnings"] == kept


def test_a_kind_without_words_of_its_own_names_its_first() -> None:
    made = sample_report() | {"warnings": alike(4, "something_new")}
    (notice,) = notices(Source(made))
    assert notice.message == "It depends (0). 3 more are alike."
    assert notice.where == "s0 against base, AP"
    # one place that is warned of several times is no crowd
    same = [row | {"where": "base"} for row in alike(4)]
    assert len(warned(Source(made | {"warnings": same}))) == 4


@pytest.mark.parametrize(("kind", "first"), [("go", ""), ("no-go", "fails"), ("cannot-tell", "open")])
def test_of_many_rules_those_that_hold_are_folded(kind: str, first: str) -> None:
    made = report(kind)
    few = page_model(made)
    assert few.rules_shown == few.rules
    assert few.rules_folded is None
    rules = made["decision"]["rules"]
    held = next(rule for rule in rules if rule["outcome"] == "holds")
    rules += [held | {"id": f"more {i}"} for i in range(8)]
    page = page_model(made)
    assert page.rules is not None
    assert page.rules_folded is not None
    folded = page.rules_folded.rows
    assert {row[1].text for row in folded} == {"holds"}
    standing = () if page.rules_shown is None else page.rules_shown.rows
    assert (*standing, *folded) == page.rules.rows
    assert (standing[0][1].text if standing else "") == first
    tables = Page(render_html(made)).tables
    assert len(tables["rules-held"]) == 1 + len(folded)
    assert ("rules" in tables) == bool(standing)


@pytest.mark.parametrize("kind", ["comparison", "go", "cannot-tell", "experiment", "interleaving"])
def test_a_headline_is_the_beginning_of_the_sentence_of_the_report(kind: str) -> None:
    made = report(kind)
    said = page_model(made).statements
    assert said
    for statement, verdict in zip(said, made["verdict"], strict=False):
        assert verdict["sentence"].startswith(statement.headline)
        assert "%" not in statement.headline
        assert "interval" not in statement.headline


def test_an_odd_name_is_made_fit_for_a_headline() -> None:
    made = sample_report(names=["keyword", "x" * 500])
    headline = page_model(made).statements[0].headline
    assert headline.startswith("xxx")
    assert " than keyword on " in headline or " from keyword on " in headline
    assert "…" in headline
    assert len(headline) < 200


def test_of_one_severity_the_warnings_that_touch_a_verdict_come_first() -> None:
    codes = ("unjudged", "one_query_carries", "few_queries")
    severities = ("warning", "warning", "serious")
    made = sample_report() | {
        "warnings": [
            {"code": code, "severity": severity, "message": code, "where": ""}
            for code, severity in zip(codes, severities, strict=True)
        ]
    }
    assert [notice.message for notice in notices(Source(made))] == ["few_queries", "one_query_carries", "unjudged"]


def test_a_place_that_the_message_names_is_not_said_again() -> None:
    made = sample_report() | {
        "warnings": [{"code": "x", "severity": "info", "message": "Intervals cover little.", "where": "intervals"}]
    }
    assert Page(render_html(made)).tables["warnings"][1][1] == "Intervals cover little."


@pytest.mark.parametrize("kind", ["no-go", "cannot-tell"])
def test_what_the_rules_found_stands_once(kind: str) -> None:
    page = page_model(report(kind))
    assert page.decision is not None
    assert page.rules is not None
    found = page.rules.rows[0][2].text
    assert found not in " ".join(page.decision.details)
    assert page.decision.details[0].startswith("new against prod; of ")


def test_a_rule_has_the_name_that_people_read() -> None:
    made = report("no-go")
    for rule in made["decision"]["rules"]:
        rule["title"] = f"title of {rule['id']}"
    page = page_model(made)
    assert page.decision is not None
    assert page.rules is not None
    assert "“title of " in page.decision.headline
    assert all(row[0].text.startswith("title of ") for row in page.rules.rows)


def test_the_strip_names_columns_of_the_data_and_explains_its_rows() -> None:
    made = report("comparison")
    strip = page_model(made).where
    assert strip is not None
    names = [row.name for row in strip.panels[0].forest.rows]
    assert names == ["all queries", "kind: brand", "plain"]
    assert strip.share == "share of queries"
    assert strip.beside(strip.panels[0].forest.rows[1]) == "n 60, 50 %".replace(" ", "\N{NO-BREAK SPACE}")
    built_in = page_model(sample_report()).where
    assert built_in is not None
    rows = built_in.panels[0].forest.rows
    assert rows[1].name == "short (≤ 3 words)"
    # no part of the key breaks over two lines
    assert all(" " not in part for part in strip.key.split(" · "))


def test_heterogeneity_names_the_segments_on_the_other_side() -> None:
    made = sample_report()
    measure, pair = made["primary"][0], ("keyword", "hybrid")
    rows = [r for r in made["heterogeneity"] if (r["measure"], r["baseline"], r["system"]) == (measure, *pair)]
    rows[0] |= {"p_adjusted": 0.001, "reversal": True, "opposite": ["short", "x", "y"]}
    words = heterogeneity_words(Source(made), measure, pair)
    assert words.startswith("Length changes the effect (heterogeneity, adjusted p = .001)")
    assert words.endswith("; on short, x and y the estimate has the opposite sign.")
    rows[0] |= {"attribute": "kind_of", "label": "kind_of"}
    assert heterogeneity_words(Source(made), measure, pair).startswith("“kind_of” changes the effect")


def test_the_trigger_reverses_nothing() -> None:
    made = sample_report()
    measure, pair = made["primary"][0], ("keyword", "hybrid")
    made["segments"] = [
        {"attribute": "differs", "value": value, "label": value, "n": 20, "share": 0.5, "share_of": "units",
         "too_few": False}
        for value in ("not triggered", "triggered")
    ]  # fmt: skip
    rows = [r for r in made["heterogeneity"] if (r["measure"], r["baseline"], r["system"]) == (measure, *pair)]
    rows[0] |= {"attribute": "differs", "label": "differs", "p_adjusted": 0.001, "reversal": True}
    rows[0] |= {"opposite": ["not triggered"]}
    made["experiment"] = {"units": [], "checks": [], "trigger": [{}]}
    words = heterogeneity_words(Source(made), measure, pair)
    assert words.startswith("The trigger changes the effect")
    assert "opposite" not in words
    assert Source(made).segment_labels["differs", "not triggered"] == "not triggered"


def test_a_verdict_that_rests_on_a_covariate_says_what_it_would_be_without() -> None:
    made = report("experiment")
    row = next(r for r in made["differences"] if r["adjusted_for"] and r["segment"] is None)
    found = next(other for other in row["also"] if other["test"] == "without covariates")
    for p, warns in ((0.2, True), (0.001, False)):
        found["p_value"] = p
        row |= {"p_value": 0.001, "p_adjusted": 0.001}
        verdict = next(v for v in made["verdict"] if v["difference_id"] == row["id"])
        verdict["outcome"] = "better"
        page = page_model(made)
        line = next(line for line in page.statements[0].details if line.startswith("adjusted for past; without it "))
        assert line.endswith(wording.p_statement(p).replace(" ", "\N{NO-BREAK SPACE}"))
        told = [n.message for n in page.notices if n.message.startswith("The verdict rests on the adjustment for past")]
        assert bool(told) == warns
