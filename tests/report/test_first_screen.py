"""What keeps a first screen short: warnings that are alike stand together, rules that hold are folded, one sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rankstats import wording
from rankstats.report.blocks import Figure
from rankstats.report.drawings import Forest
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown
from rankstats.report.model import page_model
from rankstats.report.notices import notices, warned
from rankstats.report.source import Source
from rankstats.report.terminal import render_terminal
from rankstats.report.tones import BETTER, HIGHER, WORSE
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
    short = "short (≤ 3 words)"
    rows[0] |= {"p_adjusted": 0.001, "reversal": True, "opposite": [short]}
    row = next(r for r in made["differences"] if (r["measure"], r["baseline"], r["system"]) == (measure, *pair)
               and r["segment"] == {"attribute": "length", "value": short})  # fmt: skip
    row |= {"difference": -0.006, "p_value": 0.8, "p_adjusted": 0.873}
    words = heterogeneity_words(Source(made), measure, pair)
    assert words.startswith(
        f"Length changes the effect (heterogeneity, adjusted p = .001): on {short} it is −0.006 (not shown); popularity"
    )
    row |= {"p_value": 0.001, "p_adjusted": 0.001}
    assert f": on {short} it is −0.006 (worse); popularity" in heterogeneity_words(Source(made), measure, pair)
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
        line = next(line for line in page.statements[0].details if "adjusted for past; without it " in line)
        assert line.endswith(wording.p_statement(p).replace(" ", "\N{NO-BREAK SPACE}"))
        told = [n.message for n in page.notices if n.message.startswith("The verdict rests on the adjustment for past")]
        assert bool(told) == warns


def test_warnings_about_what_is_shown_first_come_first() -> None:
    made = sample_report()
    label = made["measures"][0]["label"]
    shown = next(v for v in made["verdict"] if v["outcome"] == "better")
    other = next(v for v in made["verdict"] if v["outcome"] == "not_shown")
    places = {v["system"]: f"{v['system']} against {v['baseline']}, {label}" for v in (shown, other)}
    found = (
        ("condensed_disagree", places[other["system"]]),
        ("mean_against_losses", places[shown["system"]]),
        ("judged_gap", f"{shown['system']} against {shown['baseline']}"),
        ("mix_disagrees", places[shown["system"]]),
        ("perfect_run", shown["system"]),
    )
    made["warnings"] = [{"code": code, "severity": "warning", "message": code, "where": place} for code, place in found]
    told = [notice.message for notice in notices(Source(made))]
    assert told == ["mix_disagrees", "perfect_run", "mean_against_losses", "condensed_disagree", "judged_gap"]
    page = page_model(made)
    assert (page.notices_heading, page.more_notices) == ("5 things to know", "All 5 under “Data health”.")


def test_of_one_comparison_a_notice_does_not_name_it_again() -> None:
    made = sample_report(2)
    row = made["differences"][0]
    place = f"{row['system']} against {row['baseline']}, {made['measures'][0]['label']}"
    kept = {place: "", "verdict": "", row["system"]: row["system"]}
    for where, said in kept.items():
        made["warnings"] = [{"code": "x", "severity": "info", "message": "Message.", "where": where}]
        assert notices(Source(made))[0].where == said
    three = sample_report()
    three["warnings"] = [{"code": "x", "severity": "info", "message": "Message.", "where": place}]
    assert notices(Source(three))[0].where == place


def test_the_best_comes_first_whatever_the_order_of_the_input() -> None:
    made = sample_report()
    for names in (("keyword", "hybrid", "neural"), ("keyword", "neural", "hybrid")):
        made = sample_report(names=names)
        effects = {r["system"]: r["difference"] for r in made["differences"] if r["segment"] is None
                   and r["measure"] == made["primary"][0]}  # fmt: skip
        best = max(effects, key=lambda name: effects[name])
        page = page_model(made)
        assert page.statements[0].headline.startswith(f"{best} is ")
        figure = next(s for s in page.sections if s.key == "pairwise").blocks[0]
        assert isinstance(figure, Figure)
        assert isinstance(figure.drawing, Forest)
        assert figure.drawing.rows[0].name == best
        assert page.where is not None
        assert page.where.panels[0].heading.startswith(best)


def test_of_an_assumed_direction_nothing_is_better() -> None:
    made = sample_report()
    name = made["primary"][0]
    made["warnings"] = [{"code": "assumed_direction", "severity": "warning", "message": "As assumed.", "where": name}]
    source = Source(made)
    found = {source.tone(row) for row in made["differences"] if row["measure"] == name}
    assert HIGHER in found
    assert not found & {BETTER, WORSE}
    page = page_model(made)
    said = next(statement for statement in page.statements if statement.tone == HIGHER)
    assert " is higher than keyword on " in said.headline
    assert said.details[0].startswith("direction assumed · ")
    assert " is higher than keyword on " in said.sentence
    assert said.sentence.endswith(" (direction assumed).")
    assert " higher, " in said.details[-1]
    assert page.where is not None
    assert not page.where.panels[0].forest.directed
    html = Page(render_html(made))
    assert {line[1].split()[0] for line in html.tables["means"][1:]}.isdisjoint({"highest", "lowest"})
    assert any("higher" in line[-1] and "direction assumed" in line[-1] for line in html.tables["pairs-1-table"][1:])
    # the others are what they were
    assert {source.tone(r) for r in made["differences"] if r["measure"] != name} & {BETTER, WORSE}
    # and the paper keeps its stars
    assert source.stars(next(r for r in made["differences"] if source.tone(r) == HIGHER)) > 0
