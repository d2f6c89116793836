"""``rankstats render``: the same bytes from report.json alone, tables and figures on request."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from rankstats.cli.main import main
from rankstats.cli.report_options import add_author_arguments, author_files, author_settings
from rankstats.errors import InputError
from rankstats.inputs.titles import read_titles
from rankstats.report.folder import annotated, json_text, rendered_files
from tests.report.sample import NOTES, sample_report

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    report = annotated(sample_report(3, 60), notes=NOTES, titles={"item-1": "x"})
    (tmp_path / "report.json").write_text(json_text(report), encoding="utf-8")
    return tmp_path


def test_the_page_is_made_from_the_json_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert main(["render", str(folder / "report.json"), "--out", str(folder / "again")]) == 0
    expected = rendered_files(annotated(sample_report(3, 60), notes=NOTES, titles={"item-1": "x"}))
    assert rendered_files(report) == expected
    written = {path.name: path.read_bytes().decode() for path in (folder / "again").iterdir()}
    assert written == expected
    assert capsys.readouterr().out == f"{folder / 'again' / 'report.html'}\n"


def test_pairs_are_written_where_the_page_names_them(tmp_path: Path) -> None:
    names = [f"run{i:02d}" for i in range(24)]
    report = sample_report(
        names=names, queries=12, segments=False, lists=False, distributions=False, compare="all-pairs"
    )
    files = rendered_files(report)
    assert ("pairs.csv beside this page" in files["report.html"]) == ("pairs.csv" in files) is True
    assert len(files["pairs.csv"].splitlines()) == len(report["differences"]) + 1


def test_tables_and_figures_are_written_on_request(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["render", str(folder / "report.json"), "--out", str(folder / "again")]
    more = ["--tables", str(folder / "t"), "--table-formats", "csv,parquet", "--table-formats", "latex"]
    assert main([*command, *more, "--figures", str(folder / "f"), "--figure-formats", "svg"]) == 0
    tables = {path.name for path in (folder / "t").iterdir()}
    assert {"tables.tex", "means.csv", "means.parquet", "per_query.csv", "pairs.csv", "ranks.csv"} <= tables
    assert {path.suffix for path in (folder / "f").iterdir()} == {".svg"}
    capsys.readouterr()
    assert main([*command, "--figures", str(folder / "g"), "--figure-formats", "jpg"]) == 2
    assert "--figure-formats jpg: choose from svg, png, pdf" in capsys.readouterr().err
    assert not (folder / "g").exists()


def test_notes_and_titles_are_taken_from_files(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("Hello", encoding="utf-8")
    (tmp_path / "d.csv").write_text('docno,title\nd1,"Lamp, oak"\n', encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_author_arguments(parser.add_argument_group("author"))
    options = parser.parse_args(["--notes", str(tmp_path / "n.md"), "--documents", str(tmp_path / "d.csv")])
    settings = author_settings(options)
    assert (settings["notes"], settings["titles"]) == ("Hello", {"d1": "Lamp, oak"})
    assert [Path(source.name).name for source in settings.get("sources", ())] == ["d.csv"]
    assert author_files(options) == [str(tmp_path / "n.md"), str(tmp_path / "d.csv")]
    assert not any(author_settings(parser.parse_args([])).values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("doc_id\ttitle\na\tx\nb\ty\na\tz\n", r":4: document 'a' is listed twice, first in line 2"),
        ("url\ttitle\na\tx\n", "no document id column"),
        ("doc_id\tprice\na\t3\n", "no title column"),
        ("doc_id\ttitle\na\tx\n\ty\n", r":3: doc_id is empty"),
    ],
)
def test_a_faulty_document_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "d.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_titles(path)


def test_titles_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"id": "007", "name": "Oak"}\n{"id": "8", "name": null}\n', encoding="utf-8")
    assert read_titles(tmp_path / "d.jsonl").table == {"007": "Oak"}
    (tmp_path / "d.tsv").write_text("asin\tproduct_title\n007\t Oak  lamp \n", encoding="utf-8")
    assert read_titles(tmp_path / "d.tsv").table == {"007": "Oak  lamp"}
    read = read_titles(tmp_path / "d.tsv", id_column="asin", title="asin")
    assert read.table == {"007": "007"}
    assert read.audit.rows == 1
