"""The JSON Schema of report.json accepts what is valid, and refuses what the contract forbids."""

from __future__ import annotations

import copy
import importlib.resources
import json
from typing import Any

import jsonschema
import pytest

from tests.report.sample import sample_report

SCHEMA: dict[str, Any] = json.loads(
    importlib.resources.files("rankstats.report").joinpath("report.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"systems": 2, "queries": 12},
        {"systems": 8, "compare": "all-pairs"},
        {"segments": False, "lists": False, "warnings": False, "distributions": False},
        {"weights": True},
        {"documents": True, "notes": "# Why"},
    ],
)
def test_samples_are_valid(options: dict[str, Any]) -> None:
    report = json.loads(json.dumps(sample_report(**options)))
    VALIDATOR.validate(report)


def test_unknown_keys_are_allowed() -> None:
    report = sample_report(queries=20)
    report["later"] = 1
    report["differences"][0]["later"] = 1
    VALIDATOR.validate(report)


@pytest.mark.parametrize("key", SCHEMA["required"])
def test_every_key_of_the_contract_is_required(key: str) -> None:
    report = sample_report(queries=20)
    del report[key]
    assert not VALIDATOR.is_valid(report)


@pytest.mark.parametrize(
    "kind", ["differences", "scores", "queries", "warnings", "verdict", "families", "heterogeneity"]
)
def test_every_key_of_a_row_is_required(kind: str) -> None:
    whole = sample_report(queries=20)
    items = SCHEMA["properties"][kind]["items"]["$ref"].rsplit("/", 1)[1]
    for key in SCHEMA["$defs"][items]["required"]:
        report = copy.deepcopy(whole)
        del report[kind][0][key]
        assert not VALIDATOR.is_valid(report), key


@pytest.mark.parametrize("p", [0.0, -0.1, 1.5])
def test_a_p_value_is_above_zero_and_at_most_one(p: float) -> None:
    report = sample_report(queries=20)
    report["differences"][0]["p_value"] = p
    assert not VALIDATOR.is_valid(report)


def test_an_outcome_is_one_of_four() -> None:
    report = sample_report(queries=20)
    report["verdict"][0]["outcome"] = "significant"
    assert not VALIDATOR.is_valid(report)
