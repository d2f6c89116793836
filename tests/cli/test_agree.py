"""``rankstats agree``: the answer first, tables for people and machines, and refusals that name the way out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from rankstats.cli.main import main
from tests.shared import shared

QUERIES = 12


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, an expert's order, two sets of judgments, scores and ratings in the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines: dict[str, list[str]] = {name: [] for name in ("a.run", "b.run", "editors.run", "human.txt", "model.txt")}
    for q in range(QUERIES):
        for d in range(9):
            grade = int(rng.integers(0, 3))
            lines["human.txt"].append(f"q{q} 0 d{d} {grade}")
            lines["model.txt"].append(f"q{q} 0 d{d} {min(2, grade + int(rng.random() < 0.3))}")
            lines["editors.run"].append(f"q{q} Q0 d{d} 1 {grade} e")
            for name, noise in (("a", 0.5), ("b", 3.0)):
                lines[f"{name}.run"].append(f"q{q} Q0 d{d} 1 {grade + rng.normal(0, noise):.4f} {name}")
    for name, text in lines.items():
        (tmp_path / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    rows = ["query_id,system,measure,value,kind"]
    for q in range(24):
        for s in range(7):
            for measure, noise in (("AP", 0.1), ("RR", 0.4)):
                rows.append(f"q{q:02},s{s},{measure},{s / 10 + rng.normal(0, noise):.4f},{'xy'[q % 2]}")
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ratings = [
        "item,rater,grade",
        *(f"i{i},{who},{(i + (who == 'eve') * (i % 3 == 0)) % 3}" for i in range(30) for who in ("ann", "bob", "eve")),
    ]
    (tmp_path / "ratings.csv").write_text("\n".join(ratings) + "\n", encoding="utf-8")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    assert main(["agree", *words]) == 0
    out, err = capsys.readouterr()
    return out, err


def rows_of(text: str, separator: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=separator))


def test_rankings_against_each_other(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = printed(capsys, "--runs", "a.run", "b.run")
    lines = out.splitlines()
    assert lines[0].startswith("a and b have RBO 0.")
    assert lines[0].endswith("% of their first 10 documents in common.")
    assert lines[1:3] == ["", "Rankings against each other, mean over queries"]
    assert lines[3].split() == [
        *("first", "second", "rbo", "rbo_min", "rbo_residual", "overlap@10"),
        *("kendall_tau_b", "tau_ap_b", "weighted_tau", "spearman", "n"),
    ]
    assert lines[4].split()[:2] == ["a", "b"]
    assert lines[4].split()[-1] == str(QUERIES)
    assert err == ""
    assert "\N{MINUS SIGN}" not in out
    anywhere, _ = printed(capsys, "a.run", "--runs", "b.run")
    assert anywhere == out


def test_every_query_and_the_options_of_lists(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--runs", "a.run", "b.run", "--per-query", "--cutoff", "3", "--rbo-p", "0.5", "--rbo-ties", "w"]
    out, err = printed(capsys, *words, "--format", "tsv")
    rows = rows_of(out, "\t")
    assert err.startswith("a and b have RBO 0.")
    assert list(rows[0]) == ["kind", "first", "second", "about", "query_id", "statistic", "value", "low", "high", "n"]
    single = [float(row["value"]) for row in rows if row["statistic"] == "overlap@3" and row["query_id"] != "all"]
    (mean,) = [row for row in rows if row["statistic"] == "overlap@3" and row["query_id"] == "all"]
    assert len(single) == QUERIES
    assert float(mean["value"]) == pytest.approx(np.mean(single))
    assert float(mean["low"]) < float(mean["value"]) < float(mean["high"])
    assert [row["query_id"] for row in rows[::8][:2]] == ["q0", "q1"]
    table, _ = printed(capsys, *words)
    assert "Rankings against each other, query by query" in table
    assert float(rows[0]["value"]) != pytest.approx(
        float(rows_of(printed(capsys, "--runs", "a.run", "b.run", "--per-query", "--format", "csv")[0])[0]["value"])
    )


def test_an_expert_and_grades(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_order, _ = printed(capsys, "--runs", "a.run", "b.run", "--expert", "editors.run")
    assert by_order.startswith("Of 2 runs a follows editors most closely, with Kendall τ-b 0.")
    by_grades, _ = printed(capsys, "--runs", "a.run", "b.run", "--qrels", "human.txt", "--format", "json")
    content = json.loads(by_grades)
    assert content["answer"].startswith("Of 2 runs a follows the grades most closely")
    values = {(row["kind"], row["second"], row["statistic"]): row["value"] for row in content["rows"]}
    assert values[("expert", "a", "kendall_tau_b")] > values[("expert", "b", "kendall_tau_b")]
    order = json.loads(printed(capsys, "--runs", "a.run", "b.run", "--expert", "editors.run", "--format", "json")[0])
    # an order given by the grades is the order of the grades
    assert [row["value"] for row in order["rows"]] == [row["value"] for row in content["rows"]]


def test_orders_of_systems(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = printed(capsys, "--scores", "scores.csv", "--segment", "kind", "--resamples", "199", "--pairs")
    lines = out.splitlines()
    assert lines[0].startswith("AP and RR order 7 systems with Kendall τ-b ")
    assert "Orders of systems in two segments" in lines
    assert err == "note: verdicts are those of the randomised Tukey test of all pairs of systems\n"
    found = rows_of(
        printed(capsys, "--scores", "scores.csv", "--resamples", "199", "--format", "csv", "--pairs", "--quiet")[0]
    )
    (tau,) = [row for row in found if (row["kind"], row["statistic"]) == ("measures", "kendall_tau_b")]
    scores = rows_of((collection / "scores.csv").read_text())
    means = [
        [np.mean([float(r["value"]) for r in scores if (r["system"], r["measure"]) == (f"s{s}", m)]) for s in range(7)]
        for m in ("AP", "RR")
    ]
    assert float(tau["value"]) == pytest.approx(scipy.stats.kendalltau(*means).statistic)
    assert float(tau["low"]) <= float(tau["value"]) <= float(tau["high"])
    assert len([row for row in found if row["kind"] == "swaps"]) == 2 * 21
    one, _ = printed(capsys, "--scores", "scores.csv", "--measures", "AP", "--resamples", "199")
    assert one.startswith("Another sample of queries would turn the order of two of the 7 systems on AP")


def test_two_sets_of_judgments(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--resamples", "199", "--measures", "AP,P@3"]
    first, err = printed(capsys, "--qrels", "human.txt", "model.txt", "a.run", "b.run", *quick)
    assert first.startswith("human and model give ")
    assert " on AP they order 2 systems with " in first.splitlines()[0]
    assert "How often a grade of the first judge (row) meets one of the second (column): human × model" in first
    assert "note: with fewer than 6 systems few orders exist, so that their correlation is coarse" in err
    for words in (
        ["--qrels", "human.txt", "--qrels", "model.txt", "a.run", "b.run"],
        ["a.run", "b.run", "--qrels", "human.txt", "--qrels=model.txt"],
        ["--runs", "a.run", "b.run", "--qrels", "human.txt", "--qrels", "model.txt"],
        ["--qrels", "human=human.txt", "model=model.txt", "a.run", "b.run"],
    ):
        assert printed(capsys, *words, *quick)[0] == first
    alone, _ = printed(capsys, "--qrels", "human.txt", "model.txt", "--resamples", "199")
    assert "order" not in alone
    assert [line for line in alone.splitlines() if "cohen" in line] == [
        line for line in first.splitlines() if "cohen" in line
    ]


def test_ratings(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys, "--ratings", "ratings.csv", "--resamples", "199")
    assert out.startswith("3 raters of 30 items agree with Krippendorff's α (ordinal) 0.")
    wide = "item,ann,bob,eve\n" + "".join(f"i{i},{i % 3},{i % 3},{(i + (i % 3 == 0)) % 3}\n" for i in range(30))
    (collection / "wide.csv").write_text(wide, encoding="utf-8")
    again, _ = printed(capsys, "--ratings", "wide.csv", "--resamples", "199")
    assert again == out
    two, _ = printed(capsys, "--ratings", "wide.csv", "--raters", "ann,eve", "--resamples", "199")
    assert two.startswith("ann and eve give 66.7 % of 30 items the same grade")


def test_a_file_holds_the_rows_and_stdout_the_answer_and_the_path(
    collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("table", "csv", "tsv", "json"):
        words = ["--runs", "a.run", "b.run", "--format", form]
        shown, _ = printed(capsys, *words)
        out, err = printed(capsys, *words, "--output", f"out/agree.{form}")
        answer, path = out.splitlines()
        assert answer.startswith("a and b have RBO 0.")
        assert path == f"out/agree.{form}"
        assert err == ""
        assert (collection / path).read_text(encoding="utf-8") == shown
    first = (collection / "out/agree.json").read_bytes()
    printed(capsys, "--runs", "a.run", "b.run", "--format", "json", "--output", "out/agree.json")
    assert (collection / "out/agree.json").read_bytes() == first


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "say what is compared: rankstats agree --runs RUN RUN"),
        (["a.run", "b.run"], "say what is compared"),
        (["--runs", "a.run"], "needs two runs, or one run and an expert's order or grades"),
        (["--runs", "a.run", "a.run"], "two runs are named 'a'"),
        (["--runs", "a.run", "missing.run"], "missing.run"),
        (["--runs", "a.run", "--expert", "editors.run", "--qrels", "human.txt"], "either an expert's order or grades"),
        (["--runs", "--scores", "scores.csv"], "--scores and --runs are two questions; ask one at a time"),
        (["--scores", "scores.csv", "--ratings", "ratings.csv"], "--scores and --ratings are two questions"),
        (["--scores", "scores.csv", "a.run"], "a.run is not expected with --scores"),
        (["--scores", "scores.csv", "--rbo-p", "0.8"], "--rbo-p has no meaning with --scores"),
        (["--scores", "scores.csv", "--segment", "kin"], "kin"),
        (["--scores", "scores.csv", "--alpha", "2"], "alpha = 2"),
        (["--runs", "a.run", "b.run", "--segment", "kind"], "--segment has no meaning with --runs"),
        (["--runs", "a.run", "b.run", "--rbo-p", "1.5"], "the persistence lies between 0 and 1"),
        (["--runs", "a.run", "b.run", "--cutoff", "0"], "cutoff = 0"),
        (["--runs", "a.run", "b.run", "--output", ""], "--output names nothing"),
        (["--runs", "a.run", "b.run", "--output", "a.run"], "a.run"),
        (["--qrels", "human.txt"], "two sets of judgments are compared, not 1"),
        (["--qrels", "human.txt", "a.run"], "a.run"),
        (["--qrels", "human.txt", "--qrels", "model.txt", "--qrels", "human.txt"], "not 3"),
        (["--qrels", "human.txt", "human.txt"], "two sets of judgments are named 'human'"),
        (["--qrels", "human.txt", "model.txt", "a.run"], "only one system (a)"),
        (["--ratings", "human.txt"], "human.txt"),
        (["--ratings", "ratings.csv", "--rater", "who"], "no column 'who' (--rater)"),
        (["--ratings", "ratings.csv", "--pairs"], "--pairs has no meaning with --ratings"),
    ],
)
def test_refusals(collection: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["agree", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("rankstats: ")
    assert message in err
    assert "Traceback" not in err


def test_published_agreement_of_assessors(capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared("data/annotators")
    path = folder / "chorus/Broad_Query_Set_individual_ratings.csv.gz"
    names = [f"agent_{i}_rating" for i in (1, 2, 3)]
    out, err = printed(
        capsys, "--ratings", str(path), "--raters", ",".join(names), "--resamples", "199", "--format", "csv"
    )
    kappas = [float(row["value"]) for row in rows_of(out) if row["statistic"] == "cohen_kappa"]
    assert [round(kappa, 2) for kappa in kappas] == [0.68, 0.65, 0.60]
    assert "3 raters of 3,188 items agree" in err
    sets = [f"{name}={folder}/rag25-human-vs-llm/qrels.rag25.{name}.txt.gz" for name in ("human", "umbrela2")]
    out, _ = printed(capsys, "--qrels", *sets, "--resamples", "199")
    assert out.startswith("human and umbrela2 give 44.1 % of 10,284 documents the same grade, Cohen's κ 0.233")


def test_real_submissions_take_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    runs = sorted(str(path) for path in shared("data/ir/trec-covid-r5/runs").glob("*.run.gz"))
    out, err = printed(capsys, "--runs", *runs, "--format", "csv")
    assert len(runs) == 8
    assert len(rows_of(out)) == 28 * 8
    assert err.startswith("Of 28 pairs of runs ")
