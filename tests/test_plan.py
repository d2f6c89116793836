"""Plans: TOML files, overrides, and errors that name the way out."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from rankstats.conventions import DEFAULT_MEASURES
from rankstats.errors import InputError, PlanError, RankstatsError
from rankstats.plan import Plan, override, plan_from_document, plan_text, read_plan

PLAN = """
schema_version = "1"
[inputs]
qrels = "q.txt"
runs = { prod = "a.run", new = "sub/b.run" }
queries = "q.tsv"
[columns]
query_id = "qid"
text = "query"
frequency = "total_clicks"
weight = "w"
cluster = "user"
[comparison]
measures = ["nDCG@10", "AP(rel=2)"]
primary = ["nDCG@10"]
baselines = ["prod"]
compare = "baseline"
segments = ["length:6", "popularity:0.5,0.9"]
[conventions]
preset = "trec_eval"
ties = "float32"
[statistics]
test = "t"
correction = "holm"
family = "segments"
intervals = ["bca", "studentised"]
alpha = 0.01
resamples = 999
seed = 7
alternative = "two-sided"
margin = { "nDCG@10" = 0.01 }
"""


def test_every_key_of_a_plan_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    plan = read_plan(path)
    assert plan.qrels == str(tmp_path / "q.txt")
    assert plan.runs == (("prod", str(tmp_path / "a.run")), ("new", str(tmp_path / "sub/b.run")))
    assert plan.queries == str(tmp_path / "q.tsv")
    assert (plan.columns.query_id, plan.columns.text, plan.columns.weight) == ("qid", "query", "w")
    assert plan.measures == ("nDCG@10", "AP(rel=2)")
    assert plan.segments == ("length:6", "popularity:0.5,0.9")
    assert (plan.policies.no_relevant, plan.policies.ties) == ("zero", "float32")
    assert (plan.test, plan.correction, plan.alpha, plan.resamples, plan.seed) == ("t", "holm", 0.01, 999, 7)
    assert plan.margin == {"nDCG@10": 0.01}
    assert (plan.columns.cluster, plan.family, plan.intervals) == ("user", "segments", ("bca", "studentised"))


def test_a_plan_written_as_toml_reads_back_to_the_same_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    plan = replace(read_plan(path), scores=('a\\b\n"c".csv',), title=None)
    again = plan_from_document(tomllib.loads(plan_text(plan.to_dict())))
    assert replace(again, stated=()) == replace(plan, stated=())


def test_the_default_plan_names_every_default() -> None:
    text = plan_text(Plan(qrels="q", runs=(("a b", "x"), ("c", "y"))).to_dict())
    assert 'runs = { "a b" = "x", "c" = "y" }' in text
    for setting in ("alpha = 0.05", "resamples = 10000", 'test = "randomisation"', 'ties = "doc_id"'):
        assert setting in text
    assert "null" not in text


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"comparision": {}}, r"\[comparision\] is not a section .* did you mean 'comparison'"),
        ({"comparison": {"measure": ["AP"]}}, r"\[comparison\] measure is unknown; did you mean 'measures'"),
        ({"statistics": {"alpha": "5 %"}}, r"\[statistics\] alpha is '5 %'; a number is expected"),
        ({"statistics": {"alpha": 0.7}}, r"alpha = 0.7 is not between 1e-06 and 0.5"),
        ({"statistics": {"alpha": True}}, r"alpha is True; a number"),
        ({"statistics": {"resamples": 10.5}}, r"resamples is 10.5; a whole number"),
        ({"statistics": {"resamples": 10}}, r"resamples = 10 is not between 99 and 10,000,000"),
        ({"statistics": {"seed": -1}}, r"seed = -1 is below 0"),
        ({"statistics": {"test": "ttest"}}, r"test 'ttest' is unknown; choose one of"),
        ({"statistics": {"correction": "holmes"}}, r"did you mean 'holm'"),
        (
            {"statistics": {"alternative": "bigger"}},
            r"alternative 'bigger' is unknown; choose one of two-sided, greater",
        ),
        ({"statistics": {"intervals": ["bca", "bcca"]}}, r"interval 'bcca' is unknown; .*did you mean 'bca'"),
        ({"statistics": {"family": "segments"}}, r"family 'segments' .* name some with --segment"),
        (
            {"statistics": {"family": "segments"}, "comparison": {"segments": ["length"], "compare": "best"}},
            r"needs a baseline that was not chosen by the data",
        ),
        ({"statistics": {"alternative": "less", "correction": "max-t"}}, r"'max-t' is two-sided; .* use 'auto'"),
        ({"statistics": {"alternative": "less", "margin": {"AP": 0.1}}}, r"needs both ends of an interval"),
        ({"statistics": {"test": "sign"}, "columns": {"cluster": "user"}}, r"test 'sign' .* knows no clusters"),
        (
            {
                "statistics": {"correction": "tukey"},
                "columns": {"cluster": "user"},
                "comparison": {"compare": "all-pairs"},
            },
            r"knows no clusters",
        ),
        ({"statistics": {"margin": {"AP": 0}}}, r"margin of AP is 0.0; a margin is a number above 0"),
        ({"conventions": {"ties": "docid"}}, r"ties = 'docid' is unknown; .* did you mean 'doc_id'"),
        ({"conventions": {"preset": "trec"}}, r"conventions 'trec' are unknown"),
        ({"inputs": {"runs": ["a"]}}, r"\[inputs\] runs is \['a'\]; a table such as"),
        ({"comparison": {"compare": "pairs"}}, r"did you mean 'all-pairs'"),
        ({"schema_version": "2"}, r"schema_version = '2'; this version reads '1'"),
    ],
)
def test_wrong_plans_name_the_key_and_the_way_out(document: dict[str, object], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan_from_document(document)


def test_a_plan_that_is_no_toml_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("[inputs\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"plan\.toml: not a TOML file"):
        read_plan(path)
    with pytest.raises(InputError, match=r"none\.toml: cannot read the plan"):
        read_plan(tmp_path / "none.toml")


def test_options_override_the_plan_and_it_is_noted() -> None:
    plan = plan_from_document({"statistics": {"alpha": 0.01, "seed": 4}, "columns": {"text": "q"}})
    changed = override(plan, {"alpha": 0.1, "seed": None, "measures": ()}, columns={"text": "query", "grade": None})
    assert (changed.alpha, changed.seed, changed.columns.text) == (0.1, 4, "query")
    assert changed.overridden == (
        "alpha: 0.01 in the plan, 0.1 by option",
        "text: q in the plan, query by option",
    )


def test_a_stated_default_is_overridden_too() -> None:
    plan = plan_from_document({"statistics": {"alpha": 0.05}})
    assert override(plan, {"alpha": 0.2}).overridden == ("alpha: 0.05 in the plan, 0.2 by option",)
    assert override(plan, {"alpha": 0.05}).overridden == ()


def test_what_the_plan_left_open_is_not_an_override() -> None:
    assert override(Plan(), {"alpha": 0.1}).overridden == ()


def test_the_default_measures_are_the_documented_ones() -> None:
    assert Plan().wanted_measures == DEFAULT_MEASURES


def test_errors_are_value_errors() -> None:
    assert issubclass(RankstatsError, ValueError)
    assert str(InputError("wrong", "a.run", 17)) == "a.run:17: wrong"
    assert str(InputError("wrong", "a.run")) == "a.run: wrong"
    assert str(InputError("wrong")) == "wrong"
