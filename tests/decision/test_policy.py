"""Policy files: read as written, refused with the way out."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import pytest

from rankstats import RankstatsError
from rankstats.decision import (
    Claim,
    Floor,
    Guard,
    Judged,
    Part,
    Policy,
    Requirements,
    policy_from_document,
    read_policy,
)
from rankstats.decision.policy import EXAMPLE
from rankstats.errors import PlanError

CONTRACT = """
schema_version = "1"
baseline = "prod"
candidate = "new"          # never taken from the order of runs
alpha = 0.05
open_exit = 3              # or 1 to block; 0 is refused
[evidence]                 # unmet: open, not no-go
queries = 50
missing_queries = 0
judged = { k = 10, at_least = 0.8, gap = 0.05 }
warnings = ["identical_systems"]
[[claim]]
id = "better"
measure = "nDCG@10"
more_than = 0.0
[[guard]]
id = "tail"
measure = "nDCG@10"
segment = { attribute = "popularity", value = "tail" }
margin = 0.02
[[floor]]
id = "absolute"
measure = "AP"
at_least = 0.2
"""
EXPECTED = Policy(
    baseline="prod",
    candidate="new",
    alpha=0.05,
    open_exit=3,
    evidence=Requirements(50, 0, Judged(10, 0.8, 0.05), ("identical_systems",)),
    claims=(Claim("better", "nDCG@10", 0.0),),
    guards=(Guard("tail", "nDCG@10", margin=0.02, segment=Part("popularity", "tail")),),
    floors=(Floor("absolute", "AP", at_least=0.2),),
)
HEAD = 'baseline = "prod"\ncandidate = "new"\n'
RULE = '[[claim]]\nid = "c"\nmeasure = "AP"\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [CONTRACT, "\ufeff" + CONTRACT.replace("\n", "\r\n")])
def test_a_policy_is_read_as_written(tmp_path: Path, text: str) -> None:
    assert read_policy(write(tmp_path, text)) == EXPECTED


def test_a_policy_is_frozen_and_reads_back_from_its_dictionary() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXPECTED.alpha = 0.1  # type: ignore[misc]  that is the point
    assert policy_from_document(EXPECTED.to_dict()) == EXPECTED


def test_the_printed_policy_is_one() -> None:
    # the contract's example, about the measure that a report holds by default
    example = EXAMPLE.replace("nDCG(dcg='exp-log2')@10", "nDCG@10")
    assert example.count("nDCG@10") == 2
    policy = policy_from_document(tomllib.loads(example))
    assert policy == EXPECTED
    # the rule that is commented out is right as well
    uncommented = example.replace("\n# [[guard]]", "\n[[guard]]")
    uncommented = "\n".join(
        line.removeprefix("# ") if line.startswith(("# id", "# measure", "# better", "# margin")) else line
        for line in uncommented.splitlines()
    )
    guards = policy_from_document(tomllib.loads(uncommented)).guards
    assert guards[1] == Guard("latency", "latency_ms", margin_relative=0.05, better="lower")


def test_without_evidence_missing_queries_and_identical_systems_keep_it_open() -> None:
    policy = policy_from_document(tomllib.loads(HEAD + RULE))
    assert policy.evidence == Requirements(None, 0, None, ("identical_systems",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "is empty: it asks for nothing"),
        ("", "names no baseline"),
        ('baseline = "prod"\n' + RULE, "names no candidate"),
        ('baseline = "a"\ncandidate = "a"\n' + RULE, "are both 'a'"),
        (HEAD + 'schema_version = "2"\n' + RULE, "schema_version = '2'; this version reads '1'"),
        (HEAD + "open_exit = 0\n" + RULE, "open_exit = 0; 3 is usual and 1 blocks"),
        (HEAD + "alpha = 0.7\n" + RULE, "alpha = 0.7 is not between"),
        (HEAD + 'alpha = "0.05"\n' + RULE, "alpha is '0.05'; a number is expected"),
        (HEAD + "alhpa = 0.1\n" + RULE, "did you mean 'alpha'?"),
        (HEAD + RULE.replace("claim", "clam"), "did you mean 'claim'?"),
        (HEAD + RULE.replace("[[claim]]", "[claim]"), "write [[claim]]"),
        (HEAD + RULE + "morethan = 1\n", "[[claim]] 'c': morethan is unknown"),
        (HEAD + RULE + "morethan = 1\n", "did you mean 'more_than'?"),
        (HEAD + RULE + RULE, "two rules have the id 'c'"),
        (HEAD + RULE + '[[guard]]\nid = "c"\nmeasure = "AP"\nmargin = 1\n', "two rules have the id 'c'"),
        (HEAD + '[[claim]]\nmeasure = "AP"\n', "[[claim]] number 1: has no id"),
        (HEAD + '[[claim]]\nid = "c"\n', "[[claim]] 'c': has no measure"),
        (HEAD + RULE + "more_than = -0.1\n", "harm that is tolerated belongs in [[guard]]"),
        (HEAD + RULE + "more_than = nan\n", "more_than = nan"),
        (HEAD + '[[guard]]\nid = "g"\nmeasure = "AP"\n', "[[guard]] 'g': needs one of margin and margin_relative"),
        (HEAD + '[[guard]]\nid = "g"\nmeasure = "AP"\nmargin = 0\n', "a number above 0"),
        (HEAD + '[[guard]]\nid = "g"\nmeasure = "AP"\nmargin = 1\nmargin_relative = 1\n', "needs one of"),
        (HEAD + '[[guard]]\nid = "g"\nmeasure = "AP"\nmargin = true\n', "margin is True; a number is expected"),
        (HEAD + '[[floor]]\nid = "f"\nmeasure = "AP"\n', "needs one of at_least"),
        (HEAD + '[[floor]]\nid = "f"\nmeasure = "AP"\nat_least = inf\n', "a finite number"),
        (HEAD + RULE + 'segment = "tail"\n', 'such as { attribute = "popularity", value = "tail" }'),
        (HEAD + RULE + 'segment = { atribute = "x" }\n', "a table such as"),
        (HEAD + RULE + 'segment = { attribute = "x", valu = "y" }\n', "did you mean 'value'?"),
        (HEAD + RULE + 'better = "low"\n', "'higher' or 'lower' is expected; did you mean 'lower'?"),
        (HEAD + "[evidence]\nquerys = 50\n", "[evidence] querys is unknown"),
        (HEAD + "[evidence]\nqueries = 0\n", "queries = 0"),
        (HEAD + "[evidence]\nqueries = 5.5\n", "a whole number is expected"),
        (HEAD + "[evidence]\nmissing_queries = -1\n", "is below 0"),
        (HEAD + "[evidence]\njudged = 0.8\n", "a table such as { k = 10"),
        (HEAD + "[evidence]\njudged = { k = 10 }\n", "says neither at_least nor gap"),
        (HEAD + "[evidence]\njudged = { at_least = 80 }\n", "a share from 0 to 1"),
        (HEAD + '[evidence]\nwarnings = ["identical"]\n', "there is no warning 'identical'"),
        (HEAD + '[evidence]\nwarnings = "identical_systems"\n', "a list of codes"),
        ("baseline = \n", "not a TOML file"),
    ],
)
def test_what_is_wrong_is_named_with_the_way_out(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RankstatsError) as raised:
        read_policy(write(tmp_path, text))
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / "p.toml"))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RankstatsError, match=r"none\.toml: cannot read the policy: No such file"):
        read_policy(tmp_path / "none.toml")


def test_a_policy_of_evidence_alone_is_one() -> None:
    policy = policy_from_document(tomllib.loads(HEAD + "[evidence]\nqueries = 50\n"))
    assert policy.rules == ()
    with pytest.raises(PlanError, match="asks for nothing"):
        policy_from_document(tomllib.loads(HEAD + "[evidence]\nmissing_queries = 0\n"))
