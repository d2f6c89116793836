"""The command line: exit statuses, first and last line, files, and messages that name the way out."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from rankstats import __version__
from rankstats.cli import main as program
from rankstats.cli.main import main

QUERIES = 30


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small collection in the working folder: the second run finds the relevant document more often."""
    monkeypatch.chdir(tmp_path)
    qrels, first, second, queries = [], [], [], ["query_id\tquery\tclicks\tkind\tw"]
    for i in range(QUERIES):
        qrels += [f"q{i} 0 d{i} {1 + i % 3}", f"q{i} 0 e{i} 0"]
        for run, place in ((first, i % 7), (second, i % 3)):
            docs = [f"x{j}" for j in range(7)]
            docs[place] = f"d{i}"
            run += [f"q{i} Q0 {doc} {rank} {10 - rank} tag" for rank, doc in enumerate(docs, start=1)]
        queries.append(f"q{i}\tword {'long ' * (i % 5)}\t{(QUERIES - i) ** 3}\t{'xy'[i % 2]}\t{1 + i % 4}")
    for name, lines in {"q.txt": qrels, "old.run": first, "new.run": second, "queries.tsv": queries}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


COMPARE = ["compare", "--qrels", "q.txt", "old.run", "new.run", "--resamples", "499"]


def test_compare_prints_the_verdict_first_and_the_path_last(
    collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMPARE, "--queries", "queries.tsv", "--segment", "length,kind", "--segment", "popularity"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].startswith("new is better than old on nDCG@10")
    assert lines[-1] == "reports/old-vs-new/report.html"
    assert printed.err == ""
    assert "\N{MINUS SIGN}" not in printed.out
    folder = collection / "reports/old-vs-new"
    assert sorted(path.name for path in folder.iterdir()) == [
        "per_query.csv",
        "report.html",
        "report.json",
        "summary.md",
        "to_judge.tsv",
    ]


def test_runs_may_stand_anywhere(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "old.run", "--qrels", "q.txt", "new.run", "--quiet", "--out", "r", "--resamples=499"]) == 0
    assert main(["compare", "--quiet", "--out", "s", "--resamples=499", "old.run", "new.run", "--qrels=q.txt"]) == 0
    first, second = (json.loads((collection / name / "report.json").read_text()) for name in "rs")
    assert first["differences"] == second["differences"]
    assert capsys.readouterr().out.count("new is better than old") == 2


def test_the_same_command_gives_the_same_bytes(collection: Path) -> None:
    for name in ("one", "two"):
        (collection / name).mkdir()
    command = [sys.executable, "-m", "rankstats", *COMPARE, "--out", "report"]
    command = [word.replace("q.txt", "../q.txt").replace("old.run", "../old.run") for word in command]
    command = [word.replace("new.run", "../new.run") for word in command]
    outputs = [
        subprocess.run(command, cwd=collection / name, check=True, capture_output=True).stdout
        for name in ("one", "two")
    ]
    assert outputs[0] == outputs[1]
    for name in ("report.html", "report.json", "per_query.csv", "summary.md", "to_judge.tsv"):
        assert (collection / "one/report" / name).read_bytes() == (collection / "two/report" / name).read_bytes()


def test_shuffled_lines_change_no_number(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extra = ["--queries", "queries.tsv", "--segment", "kind", "--weights", "w", "--quiet"]
    assert main([*COMPARE, *extra, "--out", "a"]) == 0
    shuffle = random.Random(1).shuffle
    for name in ("q.txt", "old.run", "new.run"):
        lines = (collection / name).read_text().splitlines()
        shuffle(lines)
        (collection / name).write_text("\n".join(lines), encoding="utf-8")
    head, *rows = (collection / "queries.tsv").read_text().splitlines()
    shuffle(rows)
    (collection / "queries.tsv").write_text("\r\n".join([head, *rows]), encoding="utf-8")
    assert main([*COMPARE, *extra, "--out", "b"]) == 0
    first, second = (json.loads((collection / name / "report.json").read_text()) for name in "ab")
    for key in first:
        if key != "reproduction":
            assert first[key] == second[key], key
    capsys.readouterr()


def test_per_query_values_read_back_to_the_same_comparison(
    collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = ["--queries", "queries.tsv", "--segment", "kind,length", "--quiet", "--out"]
    assert main([*COMPARE, *extra, "a"]) == 0
    again = ["compare", "--scores", "a/per_query.csv", "--segment", "kind,length", "--resamples", "499", "--out", "b"]
    assert main([*again, "--quiet"]) == 0
    first, second = (json.loads((collection / name / "report.json").read_text()) for name in "ab")
    assert first["differences"] == second["differences"]
    assert first["values"] == second["values"]
    assert [m["name"] for m in first["measures"]] == [m["name"] for m in second["measures"]]
    assert not (collection / "b/to_judge.tsv").exists()
    capsys.readouterr()


def test_wide_scores_and_a_chosen_baseline(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i},{i % 5},{i % 5 + 1},{i % 4}" for i in range(40)]
    (collection / "wide.csv").write_text("\n".join(["query_id,a,b,c", *rows]), encoding="utf-8")
    command = ["compare", "--scores", "wide.csv", "--measures", "clicks", "--baseline", "b", "--out", "w", "--quiet"]
    assert main([*command, "--resamples", "499"]) == 0
    report = json.loads((collection / "w/report.json").read_text())
    assert [(row["baseline"], row["system"]) for row in report["differences"]] == [("b", "a"), ("b", "c")]
    assert {row["measure"] for row in report["differences"]} == {"clicks"}
    assert capsys.readouterr().out.startswith("a is worse than b on clicks by -1.")


def test_a_plan_file_and_options_over_it(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (collection / "plan.toml").write_text(
        """
        [inputs]
        qrels = "q.txt"
        runs = { old = "old.run", new = "new.run" }
        queries = "queries.tsv"
        [columns]
        weight = "w"
        [comparison]
        measures = ["RR", "AP"]
        baselines = ["new"]
        segments = ["popularity:0.5,0.9"]
        [statistics]
        alpha = 0.01
        resamples = 499
        """,
        encoding="utf-8",
    )
    assert main(["compare", "--plan", "plan.toml", "--out", "p", "--quiet", "--alpha", "0.1", "--baseline", "old"]) == 0
    report = json.loads((collection / "p/report.json").read_text())
    assert (report["alpha"], report["baseline"], report["weights"]) == (0.1, "old", "w")
    overridden = report["reproduction"]["plan"]["overridden"]
    assert overridden == ["baselines: new in the plan, old by option", "alpha: 0.01 in the plan, 0.1 by option"]
    assert len([w for w in report["warnings"] if w["code"] == "plan_overridden"]) == 2
    assert {row["weighting"] for row in report["differences"]} == {"w", None}
    page = (collection / "p/report.html").read_text()
    assert "alpha: 0.01 in the plan, 0.1 by option" in page
    capsys.readouterr()


def test_render_makes_the_same_page_again(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMPARE, "--queries", "queries.tsv", "--segment", "kind", "--out", "a", "--quiet"]) == 0
    assert main(["render", "a/report.json", "--out", "again"]) == 0
    for name in ("report.html", "summary.md"):
        assert (collection / "a" / name).read_bytes() == (collection / "again" / name).read_bytes()
    assert capsys.readouterr().out.splitlines()[-1] == "again/report.html"


def test_evaluate_as_a_table_and_as_tsv(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["evaluate", "--qrels", "q.txt", "new.run", "old.run", "--measures", "RR,P@10"]
    assert main(command) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["system", "RR", "P@10"]
    assert table[1].split() == ["new", "0.6111", "0.1000"]
    assert main([*command, "--per-query", "--format", "tsv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "query_id\tsystem\tmeasure\tvalue"
    assert lines[1] == "q0\tnew\tRR\t1.0"
    assert [line.split("\t")[0] for line in lines[1::4]] == [*sorted(f"q{i}" for i in range(QUERIES)), "all"]
    assert lines[-4].startswith("all\tnew\tRR\t0.6111")


def test_evaluate_writes_parquet_and_json_that_read_back(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["evaluate", "--qrels", "q.txt", "new.run", "--measures", "AP", "--per-query"]
    assert main([*command, "--format", "parquet", "--output", "v.parquet"]) == 0
    assert main([*command, "--format", "json", "--output", "v.json"]) == 0
    frame = pd.read_parquet("v.parquet")
    rows = json.loads((collection / "v.json").read_text())
    assert frame.to_dict("records") == rows
    assert len(rows) == QUERIES + 1
    capsys.readouterr()


def test_undefined_values_are_empty_and_left_out_of_means(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (collection / "q.txt").open("a", encoding="utf-8") as stream:
        stream.write("none 0 d1 0\n")
    command = ["evaluate", "--qrels", "q.txt", "new.run", "--measures", "AP", "--per-query", "--format", "tsv"]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "none\tnew\tAP\t\n" in printed.out
    assert "note: AP is undefined on 1 query" in printed.err
    assert main([*command, "--conventions", "trec_eval"]) == 0
    assert "none\tnew\tAP\t0.0\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compair"], "'compair' is not a command"),
        (["compair"], "did you mean 'compare'"),
        (["compare"], "give --qrels FILE and two runs or more"),
        (["compare", "old.run", "new.run"], "runs need judgments: give --qrels FILE"),
        (["compare", "--qrels", "q.txt", "old.run"], "a comparison needs two systems or more; 1 given (old)"),
        (["compare", "--qrels", "q.txt", "old.run", "./old.run"], "such as old-2=old.run"),
        (["compare", "--qrels", "none.txt", "old.run", "new.run"], "none.txt: "),
        ([*COMPARE, "--baseline", "olf"], "did you mean 'old'"),
        ([*COMPARE, "--measures", "nDCH@10,APP,P"], "did you mean 'nDCG"),
        ([*COMPARE, "--segment", "length"], "--segment length needs a query table; give one with --queries FILE"),
        ([*COMPARE, "--weights", "w"], "--weights w needs a query table"),
        ([*COMPARE, "--queries", "queries.tsv", "--weights", "W"], "did you mean 'w'"),
        ([*COMPARE, "--queries", "queries.tsv", "--weights", "kind"], "queries.tsv:2: kind 'x' is not a finite number"),
        ([*COMPARE, "--queries", "queries.tsv", "--id", "knd"], "did you mean 'kind'"),
        ([*COMPARE, "--margin", "0.1"], "write MEASURE=SIZE"),
        ([*COMPARE, "--resamples", "100000000000000"], "is not between 99 and 10,000,000"),
        ([*COMPARE, "--baseline", "old", "--compare", "all-pairs"], "a baseline has no meaning"),
        ([*COMPARE, "--measures", ","], "--measures names nothing"),
        (["compare", "--scores", "s.csv", "--ties", "rank"], "--ties tell how runs are evaluated"),
        (["evaluate", "--qrels", "q.txt", "old.run", "--output", "old.run"], "is one of the files that are read"),
        ([*COMPARE, "--measures", "AP", "--plan", "margin.toml"], "margin of 'RR': it is not among the measures (AP)"),
        ([*COMPARE, "--alpha", "1"], "alpha = 1.0 is not between 1e-06 and 0.5"),
        ([*COMPARE, "--plan", "none.toml"], "none.toml: cannot read the plan"),
        (["evaluate", "old.run"], "rankstats evaluate --qrels FILE RUN"),
        (["evaluate", "--qrels", "q.txt", "old.run", "--format", "parquet"], "needs --output FILE"),
        (["measures", "nDCH"], "did you mean 'nDCG"),
        (["render", "q.txt"], "q.txt:1: is not JSON"),
    ],
)
def test_usage_errors_are_one_message_and_write_nothing(
    collection: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (collection / "margin.toml").write_text('[statistics]\nmargin = { "RR" = 0.01 }\n', encoding="utf-8")
    before = sorted(path.name for path in collection.iterdir())
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.startswith("rankstats: ")
    assert "Traceback" not in printed.err
    assert sorted(path.name for path in collection.iterdir()) == before


def test_texts_keep_their_column(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"q{i}\twords {i}\tsecret {i}" for i in range(QUERIES)]
    (collection / "two.tsv").write_text("\n".join(["qid\tquery\ttext", *rows]), encoding="utf-8")
    assert main([*COMPARE, "--queries", "two.tsv", "--out", "o", "--quiet"]) == 0
    report = json.loads((collection / "o/report.json").read_text())
    attributes = {query["query_id"]: query["attributes"] for query in report["queries"]}
    assert attributes["q7"] == {"text": "words 7", "text (column)": "secret 7"}
    capsys.readouterr()


def test_a_margin_may_be_spelled_as_an_alias(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (collection / "m.toml").write_text('[statistics]\nmargin = { "recip_rank" = 0.9 }\n', encoding="utf-8")
    assert main([*COMPARE, "--measures", "RR", "--plan", "m.toml", "--out", "o", "--quiet"]) == 0
    assert "equivalent on RR within ±0.9" in capsys.readouterr().out
    assert main([*COMPARE, "--measures", "RR", "--margin", "MRR=0.8", "--out", "o", "--quiet"]) == 0
    assert "equivalent on RR within ±0.8" in capsys.readouterr().out


def test_small_values_are_shown_with_digits(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i},{1e-9 * (i + 1)},{2e-9 * (i + 1)}" for i in range(30)]
    (collection / "tiny.csv").write_text("\n".join(["query_id,a,b", *rows]), encoding="utf-8")
    assert main(["compare", "--scores", "tiny.csv", "--out", "o", "--quiet", "--resamples", "499"]) == 0
    printed = capsys.readouterr().out
    assert "b is better than a on value by +0.000000016" in printed
    assert " 0.000" not in printed


def test_missing_score_rows_are_said_to_be_left_out(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i},{s},m,{i % 3}" for i in range(30) for s in "ab" if s == "a" or i < 20]
    (collection / "long.csv").write_text("\n".join(["query_id,system,measure,value", *rows]), encoding="utf-8")
    assert main(["compare", "--scores", "long.csv", "--out", "o", "--resamples", "499"]) == 0
    printed = capsys.readouterr().out
    assert "b answers 20 of 30 queries; the missing 10 are left out of all systems' means." in printed
    assert "count as 0" not in printed


def test_a_closed_or_full_stdout_is_no_fault_of_ours(collection: Path) -> None:
    command = [sys.executable, "-m", "rankstats", "evaluate", "--qrels", "q.txt", "old.run", "--quiet"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"rankstats: cannot write to the standard output: No space left on device\n"
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False)
    assert (closed.returncode, closed.stderr) == (0, b"")


def test_letters_that_the_pipe_lacks_are_replaced(collection: Path) -> None:
    command = [sys.executable, "-m", "rankstats", *COMPARE, "--queries", "queries.tsv", "--segment", "length"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C"}
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    assert b"new is better than old" in done.stdout
    assert "≤ 3 words" in (collection / "reports/old-vs-new/report.html").read_text(encoding="utf-8")


def test_abbreviated_options_are_refused(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*COMPARE, "--resample", "10"])
    assert stopped.value.code == 2
    assert "--resample" in capsys.readouterr().err


def test_a_query_called_all_cannot_be_told_from_the_means(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (collection / "q.txt").write_text("all 0 d0 1\n", encoding="utf-8")
    (collection / "new.run").write_text("all Q0 d0 1 1 t\n", encoding="utf-8")
    assert main(["evaluate", "--qrels", "q.txt", "new.run", "--per-query", "--format", "tsv"]) == 2
    assert "a query has the id 'all'" in capsys.readouterr().err


def test_internal_errors_say_whose_fault_it_is(
    collection: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: list[str]) -> int:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(program, "_dispatch", fail)
    assert main([]) == 4
    assert "internal error: ZeroDivisionError: division by zero" in capsys.readouterr().err
    monkeypatch.setattr(program, "_dispatch", lambda arguments: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main([]) == 130


def test_compressed_runs_are_named_without_their_endings(collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (collection / "old.v2.run.gz").write_bytes(gzip.compress((collection / "old.run").read_bytes()))
    assert main(["compare", "--qrels", "q.txt", "old.v2.run.gz", "n=new.run", "--quiet", "--resamples", "499"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "reports/old.v2-vs-n/report.html"


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    overview = capsys.readouterr().out
    for name in program.COMMANDS:
        assert re.search(rf"^  {name} ", overview, re.M)
        with pytest.raises(SystemExit) as stopped:
            main([name, "--help"])
        assert stopped.value.code == 0
        assert f"usage: rankstats {name}" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"rankstats {__version__}\n"
    assert main([]) == 2


def test_measures_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures"]) == 0
    listed = capsys.readouterr().out
    for name in ("nDCG", "ERR", "Judged", "HitRate"):
        assert name in listed
    assert main(["measures", "map", "nDCG(dcg='exp-log2')@10"]) == 0
    explained = capsys.readouterr().out
    assert explained.startswith("AP\n")
    assert "2^" in explained


def test_the_demo_writes_a_collection_and_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path / "demo"), "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ngram is better than keyword on nDCG@10")
    assert lines[-1] == str(tmp_path / "demo/report.html")
    assert (tmp_path / "demo/qrels.txt").stat().st_size > 1000
