"""``rankstats interleave``: first and last line, files, exit status, options, looks."""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

import pytest

from rankstats.cli import interleave
from rankstats.cli.main import main
from rankstats.plan import plan_text
from tests.interleaving.made import log, page_rows, queries, written
from tests.readme import README


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return written(log(300, 120), tmp_path / "log.csv")


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


def test_the_first_line_is_the_verdict_and_the_last_the_path(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["interleave", str(rows), "--segment", "device", "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("new is better than prod on win share by +0.")
    assert "impressions with clicks of" in lines[0]
    assert "\N{MINUS SIGN}" not in "".join(lines)
    assert lines[-1] == str(out / "report.html")
    names = {"report.html", "report.json", "summary.md", "pairs.csv", "segments.csv"}
    assert {path.name for path in out.iterdir()} == names
    made = report(out)
    assert lines[0].replace(" ", "") == made["verdict"][0]["sentence"].replace("\N{NO-BREAK SPACE}", "").replace(
        " ", ""
    ).replace("\N{MINUS SIGN}", "-")
    with (out / "segments.csv").open(encoding="utf-8") as file:
        assert {row["value"] for row in csv.DictReader(file)} == {"desktop", "phone", "tablet"}
    again = tmp_path / "again"
    assert main(["render", str(out / "report.json"), "--out", str(again)]) == 0
    for name in names - {"report.json"}:
        assert (again / name).read_bytes() == (out / name).read_bytes(), name
    assert {path.name for path in again.iterdir()} == names - {"report.json"}


def test_the_same_log_and_seed_give_the_same_bytes(rows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    made = []
    for _ in range(2):
        assert main(["interleave", str(rows), "--out", str(folder), "--quiet", "--resamples", "500"]) == 0
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1]


def test_every_option_reaches_the_settings(tmp_path: Path) -> None:
    made = log(200, 80, scheme="probabilistic")
    renamed = {"query_id": "q", "unit_id": "who", "impression_id": "serp", "position": "place", "clicked": "hit",
               "rank_a": "ra", "rank_b": "rb", "ranker_a": "one", "ranker_b": "two"}  # fmt: skip
    path = written([{renamed.get(k, k): v for k, v in row.items()} for row in made], tmp_path / "log.csv")
    table = tmp_path / "queries.json"
    asked = [{"key": q, "said": row["text"], "often": row["frequency"]} for q, row in queries(made).items()]
    table.write_text(json.dumps(asked), encoding="utf-8")
    out = tmp_path / "out"
    arguments = [
        *("--query", "q", "--unit", "who", "--impression", "serp", "--position", "place", "--clicked", "hit"),
        *("--rank-a", "ra", "--rank-b", "rb", "--ranker-a", "one", "--ranker-b", "two"),
        *("--scheme", "probabilistic", "--list-length", "10", "--tau", "2", "--outcome", "clicks"),
        *("--baseline", "new", "--queries", str(table), "--segment", "length,device,popularity", "--alpha", "0.01"),
        *("--id", "key", "--text", "said", "--frequency", "often"),
        *("--resamples", "300", "--seed", "7", "--looks", "0.5,1", "--look", "1", "--spending", "pocock"),
        *("--design", "group-sequential", "--planned-units", "500", "--title", "T", "--quiet", "--out", str(out)),
    ]
    assert main(["interleave", str(path), *arguments]) == 0
    found = report(out)
    settings = found["interleaving"]["settings"]
    assert (found["title"], found["alpha"], found["baseline"]) == ("T", 0.01, "new")
    assert settings["columns"] == {
        "query": "q", "unit": "who", "impression": "serp", "ranker_a": "one", "ranker_b": "two", "position": "place",
        "clicked": "hit", "rank_a": "ra", "rank_b": "rb",
    }  # fmt: skip
    assert (settings["scheme"], settings["list_length"], settings["tau"]) == ("probabilistic", 10, 2.0)
    assert (settings["looks"], settings["look"], settings["spending"]) == ([0.5, 1.0], 1, "pocock")
    assert (found["reproduction"]["seed"], found["reproduction"]["resamples"]) == (7, 300)
    assert {segment["attribute"] for segment in found["segments"]} == {"length", "device", "popularity"}
    assert [row["name"] for row in found["reproduction"]["inputs"]] == [str(path), str(table)]


def test_earlier_looks_of_the_same_folder_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, out = log(400, 150), tmp_path / "out"
    first, second = written(made[:1200], tmp_path / "one.csv"), written(made, tmp_path / "two.csv")
    assert main(["interleave", str(first), "--out", str(out), "--quiet"]) == 0
    assert main(["interleave", str(first), "--out", str(out), "--quiet"]) == 0
    assert report(out)["interleaving"]["design"]["earlier"] == []
    assert main(["interleave", str(second), "--out", str(out)]) == 0
    assert len(report(out)["interleaving"]["design"]["earlier"]) == 1
    assert "This is look 2 at a log read as if there were one" in capsys.readouterr().out


def test_two_files_are_one_log_and_a_file_named_twice_is_refused(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = log(300, 120)
    one, two = written(made[:700], tmp_path / "one.csv"), written(made[700:], tmp_path / "two.csv")
    for name, files in (("whole", [rows]), ("parts", [one, two])):
        assert main(["interleave", *map(str, files), "--out", str(tmp_path / name), "--quiet"]) == 0
    assert report(tmp_path / "whole")["differences"] == report(tmp_path / "parts")["differences"]
    assert main(["interleave", str(one), str(one), "--out", str(tmp_path / "twice")]) == 2
    assert "is named twice" in capsys.readouterr().err
    assert not (tmp_path / "twice").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give LOG"),
        (["{log}", "--out", ""], "--out names nothing"),
        (["{log}", "--looks", "half"], "--looks half"),
        (["{log}", "--rankers", "one"], "the names of ranker a and ranker b"),
        (["{log}", "--seed", "-1"], "seed = -1"),
        (["{log}", "--tau", "nan"], "tau = nan"),
        (["{log}", "--segment", "country"], "country"),
        (["{log}.missing"], "no such file"),
    ],
)
def test_usage_and_input_errors_end_with_2_and_write_nothing(
    arguments: list[str],
    said: str,
    rows: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["interleave", *(text.format(log=rows) for text in arguments)]) == 2
    message = capsys.readouterr().err
    assert said in message
    assert message.startswith("rankstats: ")
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_every_option_is_named_in_the_readme() -> None:
    parser = argparse.ArgumentParser()
    interleave.add_arguments(parser)
    text = README.read_text(encoding="utf-8").split("## Interleaving")[1].split("\n## ")[0]
    options = {option for action in parser._actions for option in action.option_strings if option.startswith("--")}
    assert [
        option for option in sorted(options - {"--help"}) if f"{option}`" not in text and f"{option} " not in text
    ] == []


def test_help_names_the_columns_and_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["interleave", "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.count("\n  rankstats interleave ") >= 5
    assert "query_id, unit_id, ranker_a, ranker_b, position, team, clicked" in said


def test_gate_says_that_it_needs_another_report(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'schema_version = "1"\nbaseline = "prod"\ncandidate = "new"\n[[claim]]\nid = "c"\nmeasure = "win share"\n'
        "more_than = 0.0\n",
        encoding="utf-8",
    )
    assert main(["interleave", str(rows), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert main(["gate", str(tmp_path / "out" / "report.json"), "--policy", str(policy)]) == 2
    assert "interleaving" in capsys.readouterr().err


def test_several_rankers_begin_with_the_one_that_leads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trio = (("prod", "x"), ("prod", "y"), ("x", "y"))
    path = written(log(900, 300, effect=0.5, pairs=trio), tmp_path / "log.csv")
    assert main(["interleave", str(path), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("y has the highest win share of 3 rankers (0.")
    assert lines[0].endswith(": no other ranker may be the best.")
    assert len(lines) == 5


def test_a_withheld_verdict_is_the_first_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written([row for i in range(60) for row in page_rows(f"p{i:02d}", "abab", "0110")], tmp_path / "log.csv")
    assert main(["interleave", str(path), "--out", str(tmp_path / "out")]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("The verdict on win share for new against prod is withheld: the rankers did not go first")


def test_a_plan_says_what_options_say(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'schema_version = "1"\n[comparison]\nbaselines = ["prod"]\nsegments = ["device"]\n[statistics]\n'
        'resamples = 500\n[interleaving]\nlogs = ["log.csv"]\nunit = "unit_id"\nlooks = [0.5, 1.0]\nlook = 1\n',
        encoding="utf-8",
    )
    by_plan, by_options, again = (tmp_path / name for name in ("plan", "options", "again"))
    assert main(["interleave", "--plan", str(plan), "--out", str(by_plan)]) == 0
    options = ["--baseline", "prod", "--segment", "device", "--resamples", "500", "--unit", "unit_id"]
    looks = ["--looks", "0.5,1", "--look", "1"]
    assert main(["interleave", str(rows), *options, *looks, "--out", str(by_options)]) == 0
    one, other = report(by_plan), report(by_options)
    assert one["differences"] == other["differences"]
    assert one["reproduction"]["plan"] == other["reproduction"]["plan"]
    # the plan in the report reads back, and options override it
    written_plan = tmp_path / "again.toml"
    written_plan.write_text(plan_text({k: v for k, v in one["reproduction"]["plan"].items() if k != "overridden"}))
    assert main(["interleave", "--plan", str(written_plan), "--look", "2", "--out", str(again)]) == 0
    assert report(again)["reproduction"]["plan"]["overridden"] == ["look: changed by option"]
    assert report(again)["interleaving"]["design"]["look"] == 2
    capsys.readouterr()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[interleaving]\nunti = "u"\n', "[interleaving] unti is unknown; did you mean 'unit'?"),
        ("[interleaving]\nlogs = [1]\n", "[interleaving] logs is [1]; a list of texts is expected"),
        ('[statistics]\nalternative = "greater"\n', "an interleaving log is read two-sided"),
        ('[comparison]\nbaselines = ["a", "b"]\n', "of a log one baseline is expected"),
        ("[statistics]\nalpha = 0.05\n", "with logs under [interleaving]"),
    ],
)
def test_plans_that_say_nothing_readable(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    assert main(["interleave", "--plan", str(plan), "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err


def test_tables_in_the_terminal_speak_of_rankers(
    rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["interleave", str(rows), "--out", str(tmp_path / "out"), "--resamples", "199"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:3] == ["ranker", "win", "share"] for line in lines)
    assert any(line.split()[:3] == ["measure", "ranker", "baseline"] for line in lines)
    assert not any("system" in line for line in lines)
