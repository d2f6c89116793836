"""Questions that cannot be meant are refused by name: segments, mixes, primary measures."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from rankstats.cli.main import main


@pytest.fixture
def scores(tmp_path: Path) -> list[str]:
    rows = [f"q{q},{0.3 + q % 7 / 20},{0.3 + q % 5 / 20}\n" for q in range(40)]
    (tmp_path / "s.csv").write_text("query_id,a,b\n" + "".join(rows), encoding="utf-8")
    kinds = ("buy", "learn", "go")
    table = [f"q{q}\t{'word ' * (1 + q % 5)}\t{kinds[q % 3]}\t{100 - q}\n" for q in range(40)]
    (tmp_path / "q.tsv").write_text("query_id\tquery\tkind\tclicks\n" + "".join(table), encoding="utf-8")
    return ["compare", "--scores", f"{tmp_path}/s.csv", "--measures", "AP", "--queries", f"{tmp_path}/q.tsv"]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> str:
    assert main([*arguments, "--out", str(tmp_path / "out"), "--quiet"]) == 2
    assert not (tmp_path / "out").exists()
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("segment", "told"),
    [
        ("length+length", "'length' stands there twice"),
        ("kind+column:kind", "'kind' stands there twice"),
        ("length:2+kind+length:6", "'length' stands there twice"),
        ("length:-1", "cuts are 0 or more"),
        ("length:-3,2", "cuts are 0 or more"),
    ],
)
def test_segments(
    scores: list[str], segment: str, told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    error = refused([*scores, "--segment", segment], capsys, tmp_path)
    assert f"--segment {segment}: " in error
    assert told in error


@pytest.mark.parametrize(
    ("mixes", "told"),
    [
        (["kind:buy=0.5,buy=0.2,learn=0.2,go=0.1"], "'buy' has two shares"),
        (["kind:buy=1,learn=1,go=1", "kind:buy=2,learn=1,go=1"], "'kind' has two mixes"),
        (["kind:buy=0.6,learn=0.4"], "no share for 'go'; give every value one, 0 to leave it out"),
        (["kind:go=1"], "no share for 'buy', 'learn'"),
    ],
)
def test_mixes(
    scores: list[str], mixes: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    error = refused([*scores, "--segment", "kind", *[a for mix in mixes for a in ("--mix", mix)]], capsys, tmp_path)
    assert told in error


def test_a_mix_may_leave_a_value_out_by_name(scores: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main([*scores, "--segment", "kind", "--mix", "kind:buy=0.5,learn=0.5,go=0", "--out", str(out)]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["post_stratified"][0]["mix"] == {"buy": 0.5, "learn": 0.5}


def test_a_primary_measure_given_twice_is_one(scores: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main([*scores, "--primary", "AP,AP", "--primary", "map", "--out", str(out)]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["primary"] == ["AP"]
    assert len(report["verdict"]) == 1
    assert report["families"][0]["members"] == [report["verdict"][0]["difference_id"]]


def runs(folder: Path) -> list[str]:
    lines = [f"q{q} 0 d{d} {int((d * d + q) % 5 == 1)}\n" for q in range(30) for d in range(12)]
    (folder / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    for name, step in (("a", 5), ("b", 7)):
        rows = [f"q{q} Q0 d{(d * step + q * q) % 12} 0 {-d} x\n" for q in range(30) for d in range(12)]
        (folder / f"{name}.run").write_text("".join(rows), encoding="utf-8")
    return ["--qrels", f"{folder}/qrels.txt", f"{folder}/a.run", f"{folder}/b.run"]


def test_logarithms_have_no_relative_difference(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["compare", *runs(tmp_path), "--measures", "GMAP,AP", "--out", str(out)]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    by_measure = {row["measure"]: row for row in report["differences"]}
    (gmap,) = [row for name, row in by_measure.items() if name.startswith("GMAP")]
    assert gmap["difference"]
    assert (gmap["relative_difference"], gmap["relative_interval"]) == (None, None)
    assert by_measure["AP"]["relative_difference"] is not None
    assert "%" not in report["verdict"][0]["sentence"].split("(")[0]


def test_two_sets_of_judgments_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 0\n", encoding="utf-8")
    files = [str(tmp_path / folder / "qrels.txt") for folder in ("one", "two")]
    assert main(["agree", "--qrels", files[0], "--qrels", files[1]]) == 2
    assert "two sets of judgments are named" in capsys.readouterr().err


def test_the_document_table_is_among_the_inputs(tmp_path: Path) -> None:
    table = tmp_path / "documents.tsv"
    table.write_text("doc_id\ttitle\nd1\tOak lamp\n", encoding="utf-8")
    out = tmp_path / "out"
    assert main(["compare", *runs(tmp_path), "--documents", str(table), "--out", str(out), "--quiet"]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    (found,) = [row for row in report["reproduction"]["inputs"] if row["name"] == str(table)]

    assert found["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert found["bytes"] == table.stat().st_size
    assert len(report["reproduction"]["inputs"]) == 4
