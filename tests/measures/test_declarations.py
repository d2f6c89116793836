from __future__ import annotations

import re

import pytest

from rankstats.conventions import DEFAULT_MEASURES
from rankstats.measures import Declaration, parse_measure, parse_measures
from tests.measures.computed import OF_HITS
from tests.measures.oracle import FORMULAS

IN_WORDS = ("meaning", "formula", "cutoff", "undefined", "missing query", "ties", "range", "direction", "source")


def by_name(declaration: Declaration) -> str:
    return declaration.name


@pytest.mark.parametrize("declaration", OF_HITS, ids=by_name)
def test_gives_terms_or_values(declaration: Declaration) -> None:
    assert (declaration.terms is None) != (declaration.values is None)
    assert declaration.denominator is None or declaration.terms is not None


@pytest.mark.parametrize("declaration", OF_HITS, ids=by_name)
def test_has_an_oracle(declaration: Declaration) -> None:
    assert any(parse_measure(name).declaration is declaration for name in FORMULAS)


@pytest.mark.parametrize("declaration", OF_HITS, ids=by_name)
def test_usage_names_every_parameter_and_the_cutoff(declaration: Declaration) -> None:
    assert declaration.usage.startswith(declaration.name)
    assert all(f"{parameter.name}=" in declaration.usage for parameter in declaration.parameters)
    symbol = "recall" if declaration.at == "recall" else "k"
    ends = {"optional": f"[@{symbol}]", "required": f"@{symbol}", "none": ""}
    assert declaration.usage.endswith(ends[declaration.cutoff])
    assert ("@" in declaration.usage) == (declaration.cutoff != "none")


@pytest.mark.parametrize("declaration", OF_HITS, ids=by_name)
def test_examples_parse(declaration: Declaration) -> None:
    if declaration.name in ("SDCG", "BPM", "INST", "INSQ", "NERR8", "NERR9", "NERR10", "NERR11"):
        assert declaration.example.startswith(f"{declaration.name}(max_rel=1)")
    assert parse_measure(declaration.example).declaration is declaration


def test_usage_is_readable() -> None:
    usages = {declaration.name: declaration.usage for declaration in OF_HITS}
    assert usages["AP"] == "AP(rel=1, denominator='R')[@k]"
    assert usages["nDCG"] == "nDCG(dcg='log2', gains={grade: gain, …}, discount='log2')[@k]"
    assert usages["IPrec"] == "IPrec(rel=1, rounding='up')@recall"
    assert usages["Compat"] == "Compat(p=0.95, normalize=True)"
    assert usages["INST"] == "INST(T=1, min_rel=0, max_rel=…)"
    assert parse_measure("DCG@5").declaration.range == "0 or more"
    assert parse_measure("AP").declaration.range == "0 to 1"


@pytest.mark.parametrize("declaration", OF_HITS, ids=by_name)
def test_defaults_are_what_the_usage_says(declaration: Declaration) -> None:
    shown = re.findall(r"(\w+)=([^,)…]+)", declaration.usage)
    values = [
        f"{name}={value}" for name, value in shown if not value.startswith(("{", "[")) and value not in ("any", "none")
    ]
    required = [f"{parameter.name}=1" for parameter in declaration.parameters if parameter.required]
    at = "" if declaration.cutoff == "none" else "@0.5" if declaration.at == "recall" else "@5"
    bare = parse_measure(f"{declaration.name}({','.join(required)}){at}")
    assert parse_measure(f"{declaration.name}({','.join(values + required)}){at}") == bare


@pytest.mark.parametrize("name", FORMULAS)
def test_conventions_are_spelled_out(name: str) -> None:
    measure = parse_measure(name)
    info = measure.info()
    assert info.name == name
    assert info.higher_is_better == measure.declaration.higher_is_better
    for key in IN_WORDS:
        assert info.definition[key]
    assert all("{" not in words or "{1: 0, 2: 5}" in words for words in info.definition.values())
    assert ("condensed" in info.definition) == name.startswith("Condensed(")


def test_parameters_show_in_the_conventions() -> None:
    definition = parse_measure("AP(rel=2,denominator='min')@100").info().definition
    assert definition["relevant"].startswith("a document with a grade of at least 2")
    assert definition["cutoff"] == "k = 100"
    assert definition["denominator"].startswith("the smaller of R and k")
    assert "/ min(R, k)" in definition["formula"]
    assert definition["undefined"].startswith("a query without a document of grade 2 or more")
    assert parse_measure("AP").info().definition["cutoff"] == "none: the whole list"


def test_gain_discount_and_ideal_show_in_the_conventions() -> None:
    definition = parse_measure("nDCG(dcg='exp-log2')@10").info().definition
    assert definition["gain"].startswith("2^grade − 1")
    assert definition["discount"] == "1 / log2(rank + 1)"
    assert definition["ideal"].startswith("all judged documents")
    assert "(2^grade(i) − 1) / log2(i + 1)" in definition["formula"]
    assert parse_measure("nDCG@10").info().definition["gain"].startswith("the grade")
    assert "{1: 1, 2: 3}" in parse_measure("nDCG(gains={1: 1, 2: 3})@10").info().definition["gain"]
    assert parse_measure("ERR(max=3)@20").info().definition["max"].startswith("3, ")
    assert "the query" in parse_measure("ERR(max='query')@20").info().definition["max"]


def test_labels_are_short_and_tell_measures_apart() -> None:
    measures = parse_measures([*FORMULAS, "nDCG@10", "nDCG(dcg='exp-log2')@10", "nDCG(gains={1: 1, 2: 3})@10"])
    labels = [measure.label for measure in measures]
    assert len(set(labels)) == len(labels)
    assert [measure.label for measure in parse_measures(DEFAULT_MEASURES)] == [
        "nDCG@10 (2^rel − 1)",
        "AP",
        "RR",
        "P@10",
        "R@100",
        "Judged@10",
    ]
    assert parse_measure("AP(rel=2,denominator='min')@100").label == "AP@100 (rel ≥ 2; ÷ min(R, k))"
    assert parse_measure("nDCG(gains={1: 1, 2: 3})@10").label == "nDCG@10 (gains 1→1, 2→3)"
    assert parse_measure("F1@10").label == "F1@10"
    assert parse_measure("F(beta=2)@10").label == "F@10 (β = 2)"
    assert parse_measure("ERR(max=3)@20").label == "ERR@20 (max 3)"
    assert parse_measure("Judged(rel=0,denominator='k')@5").label == "Judged@5 (grade ≥ 0; ÷ k)"
