from __future__ import annotations

import csv
import io
import json
import random
import subprocess
import sys
from pathlib import Path

import ir_measures
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import pytrec_eval

from rankstats.errors import InputError, PlanError
from rankstats.inputs import ScoresInput, read_scores
from tests.shared import shared

LONG = (
    "query_id,system,measure,value\n"
    "q2,b,AP,0.1\nq2,a,AP,0.30000000000000004\nq10,b,AP,\nq10,a,AP,1e-3\nq2,b,RR,1\nq2,a,RR,0\n"
    "all,b,AP,0.1\nall,a,AP,0.2\n"
)


def write(folder: Path, content: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def problem(path: Path, **options: list[str]) -> str:
    with pytest.raises(InputError) as error:
        read_scores(path, measures=options.get("measures"))
    return str(error.value).removeprefix(str(path))


def cells(read: ScoresInput) -> dict[tuple[str, str, str], float]:
    scores = read.scores
    return {
        (query, system, measure.name): float(scores.values[q, s, m])
        for q, query in enumerate(scores.query_ids)
        for s, system in enumerate(scores.systems)
        for m, measure in enumerate(scores.measures)
        if not np.isnan(scores.values[q, s, m])
    }


EXPECTED = {
    ("q2", "b", "AP"): 0.1,
    ("q2", "a", "AP"): 0.30000000000000004,
    ("q10", "a", "AP"): 1e-3,
    ("q2", "b", "RR"): 1,
    ("q2", "a", "RR"): 0,
}


@pytest.mark.parametrize("content", [LONG, LONG.replace(",", "\t"), LONG.replace("\n", "\r\n")])
def test_long_table(tmp_path: Path, content: str) -> None:
    read = read_scores(write(tmp_path, content))
    scores = read.table.scores
    assert (scores.query_ids, scores.systems) == (("q10", "q2"), ("b", "a"))
    assert [measure.name for measure in scores.measures] == ["AP", "RR"]
    assert cells(read.table) == EXPECTED
    assert (read.audit.rows, read.audit.mean_rows, read.audit.undefined) == (6, 2, 1)
    assert read.table.queries is None
    assert read.table.missing == {"b": (), "a": ()}


def test_long_table_in_other_formats(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(LONG)))
    lines = "".join(
        f'{{"query_id": "{r["query_id"]}", "system": "{r["system"]}", "measure": "{r["measure"]}", '
        f'"value": {r["value"] or "null"}}}\n'
        for r in rows
    )
    assert cells(read_scores(write(tmp_path, lines, "scores.jsonl")).table) == EXPECTED
    path = tmp_path / "scores.parquet"
    columns = {name: [row[name] for row in rows] for name in ("query_id", "system", "measure")}
    values = [float(row["value"]) if row["value"] else None for row in rows]
    pa.parquet.write_table(pa.table({**columns, "value": values}), path)
    read = read_scores(path)
    assert cells(read.table) == EXPECTED
    assert (read.audit.mean_rows, read.audit.undefined) == (2, 1)


def test_our_own_file_with_weight_and_attributes(tmp_path: Path) -> None:
    content = (
        "query_id,system,measure,value,weight,query,kind,freq\n"
        'q2,a,AP,0.5,2,"red, shoes",x,7\nq2,b,AP,0.25,2,"red, shoes",x,7\nq1,a,AP,,1,42,,\nq1,b,AP,1,1,42,,\n'
    )
    queries = read_scores(write(tmp_path, content)).table.queries
    assert queries is not None
    assert (queries.query_ids, queries.text, queries.frequency) == (("q1", "q2"), "query", "freq")
    assert queries.columns["weight"].tolist() == [1, 2]
    assert queries.columns["query"].tolist() == ["42", "red, shoes"]
    assert queries.columns["kind"].tolist() == [None, "x"]
    assert np.array_equal(queries.columns["freq"], [np.nan, 7], equal_nan=True)


def test_two_values_of_one_attribute(tmp_path: Path) -> None:
    content = "query_id,system,measure,value,weight\nq1,a,AP,1,2\nq2,a,AP,1,2\nq1,b,AP,1,3\n"
    assert problem(write(tmp_path, content)) == ":4: weight of query 'q1' is 3.0, but 2.0 in line 2"
    first = write(tmp_path, "query_id,system,measure,value,kind\nq1,a,AP,1,x\n", "1.csv")
    second = write(tmp_path, "query_id,system,measure,value,kind\nq1,b,AP,1,y\n", "2.csv")
    with pytest.raises(InputError) as error:
        read_scores([first, second])
    assert str(error.value) == f"{second}:2: kind of query 'q1' is 'y', but 'x' in {first}"


@pytest.mark.parametrize("measures", [None, [], ["nDCG@10"]])
def test_wide_table(tmp_path: Path, measures: list[str] | None) -> None:
    path = write(tmp_path, "qid\tb\ta 1\nq2\t1\t0.5\nq1\t\t-2\nall\t1\t1\n")
    read = read_scores(path, measures=measures)
    scores = read.table.scores
    assert (scores.query_ids, scores.systems) == (("q1", "q2"), ("b", "a 1"))
    assert [measure.name for measure in scores.measures] == (measures or ["value"])
    assert np.array_equal(scores.values[:, :, 0], [[np.nan, -2], [1, 0.5]], equal_nan=True)
    assert (read.audit.rows, read.audit.undefined, read.audit.mean_rows) == (4, 1, 2)


def test_wide_table_holds_one_measure(tmp_path: Path) -> None:
    message = problem(write(tmp_path, "qid,a\nq1,1\n"), measures=["AP", "RR"])
    assert message.startswith(": is a wide table, which holds one measure, but 2 are named (AP, RR)")


def test_table_of_measures(tmp_path: Path) -> None:
    path = write(tmp_path, "run\tquery\tAP\tRR\nb\tq2\t0.1\t1\na\tq2\t0.30000000000000004\t0\na\tq10\t1e-3\t\n")
    assert cells(read_scores(path).table) == EXPECTED
    assert read_scores(path).table.missing == {"b": ("q10",), "a": ()}


def test_a_wide_table_may_have_a_system_called_run(tmp_path: Path) -> None:
    assert read_scores(write(tmp_path, "qid,run,other\nq1,1,2\n")).table.scores.systems == ("run", "other")


def test_trec_eval_output(tmp_path: Path) -> None:
    first = write(
        tmp_path,
        "map                   \tq2\t0.1000\nrecip_rank            \tq2\t1.0000\nrelstring \tq2\t'10 1'\n"
        "\nrunid\tall\tx\nmap\tall\t0.1\n",
        "b.eval",
    )
    second = write(tmp_path, "map q10 0.001\nmap q2 -2.5\nrelstring_20 q2 '1'\n", "a.txt")
    read = read_scores([first, f"new={second}"])
    assert read.table.scores.systems == ("b", "new")
    assert cells(read.table) == {
        ("q2", "b", "map"): 0.1,
        ("q2", "b", "recip_rank"): 1,
        ("q10", "new", "map"): 0.001,
        ("q2", "new", "map"): -2.5,
    }
    assert read.table.missing == {"b": ("q10",), "new": ()}
    audit = read.audit
    assert (audit.rows, audit.mean_rows, audit.comment_lines, audit.blank_lines) == (4, 1, 3, 1)
    assert [source.name for source in audit.sources] == [str(first), str(second)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LONG + "q2,a,RR,1\n", ":10: RR of system 'a' for query 'q2' is listed twice, first in line 7; remove one"),
        ("query_id,system,measure,value\nq1,a,AP,nan\n", ":2: value 'nan' is not a finite number"),
        ("query_id,system,measure,value\nq1,a,AP,inf\n", ":2: value 'inf' is not a finite number"),
        ("query_id,system,measure,value\n\nq1,a,AP,x\n", ":3: value 'x' is not a finite number"),
        ("query_id,system,measure,value\nq1,,AP,1\n", ":2: system is empty"),
        ("query_id,system,measure,value\nall,a,AP,1\n", ": no per-query value; the rows of 'all' are means"),
        ("query_id,a\nq1,1\nq1,2\n", ":3: value of system 'a' for query 'q1' is listed twice, first in line 2"),
        ("query_id,a,b\nq1,1,x\n", ":2: b 'x' is not a finite number"),
        ("query_id\nq1\n", ": has a query id column and no other; a wide table has one column a system"),
        ("map q1 0.5\nmap q1\n", ":2: 2 fields where 3 are expected (measure query value)"),
        ("query_id,a,b\nq1,1,2\nq2,1,-1e160\n", ":3: value of system 'b' for query 'q2' is -1e+160, beyond 1e+100"),
        ("query_id,system,AP\nq1,a,1e101\n", ":2: AP of system 'a' for query 'q1' is 1e+101, beyond 1e+100"),
        ("query_id,a,b\nq1,1,1e400\n", ":2: b '1e400' is not a finite number (system 'b', query 'q1')"),
        (
            "query_id,system,measure,value\nq1,a,AP,x\n",
            ":2: value 'x' is not a finite number (system 'a', query 'q1')",
        ),
        ("query_id,system,AP\nq1,a,x\n", ":2: AP 'x' is not a finite number (system 'a', query 'q1')"),
        ("map q1 1e400\n", ":1: value '1e400' of map is not a finite number (query 'q1')"),
        ("map q1 0.5\nmap q2 -1e101\n", ":2: map of system 'scores' for query 'q2' is -1e+101, beyond 1e+100"),
        (
            "run1,run2\n0.5,0.25\n",
            ":1: neither a table with a column query_id nor output of trec_eval -q (measure query",
        ),
        ("map q1 0.5\nmap q2 nan\n", ":2: value 'nan' of map is not a finite number"),
        ("map q1 0.5\n\nmap q1 0.25\n", ":3: map of system 'scores' for query 'q1' is listed twice, first in line 1"),
        ("hello world\n", ":1: neither a table with a column query_id nor output of trec_eval -q"),
        ("a,b,c\n1,2,3\n", ":1: neither a table with a column query_id nor output of trec_eval -q"),
        ("", ": the file is empty"),
    ],
)
def test_fault_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    assert problem(write(tmp_path, content)).startswith(message)


def test_two_files_with_one_value(tmp_path: Path) -> None:
    first = write(tmp_path, "map q1 0.5\n", "a.eval")
    second = write(tmp_path, "query_id,system,measure,value\nq1,a,map,0.5\n", "b.csv")
    with pytest.raises(InputError) as error:
        read_scores([first, second])
    assert str(error.value) == (
        f"{second}:2: map of system 'a' for query 'q1' is listed twice, first in {first}, line 1; remove one"
    )


def test_no_file() -> None:
    with pytest.raises(InputError, match="no score file is named"):
        read_scores([])


def test_shuffled_rows_change_no_value(tmp_path: Path) -> None:
    header, *rows = LONG.splitlines()
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        read = read_scores(write(tmp_path, "\n".join([header, *rows])))
        assert read.table.scores.query_ids == ("q10", "q2")
        assert cells(read.table) == EXPECTED


@pytest.mark.parametrize("content", ["query_id,1,02\nq1,0.5,1\n", "query_id\t1\t02\nq1\t0.5\t1\n"])
def test_systems_named_by_numbers(tmp_path: Path, content: str) -> None:
    scores = read_scores(write(tmp_path, content)).table.scores
    assert (scores.query_ids, scores.systems, scores.values[0, :, 0].tolist()) == (("q1",), ("1", "02"), [0.5, 1])


def test_a_named_id_column_beside_systems_named_by_decimals(tmp_path: Path) -> None:
    path = write(tmp_path, "nr,0.1,0.2\nq1,0.5,1\n")
    assert read_scores(path, id_column="nr").table.scores.systems == ("0.1", "0.2")
    assert "add a column query_id, or name the query id column with --id" in problem(path)


def test_trec_eval_output_of_a_query_called_id(tmp_path: Path) -> None:
    read = read_scores(write(tmp_path, "map\tid\t1\nmap\tq2\t0\n"))
    assert cells(read.table) == {("id", "scores", "map"): 1, ("q2", "scores", "map"): 0}


def test_table_of_measures_with_systems_named_by_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "query_id,system,AP\nq1,1,0.5\nq1,2,0.25\nq2,1,1\nq2,2,0\n")
    scores = read_scores(path).table.scores
    assert (scores.systems, [measure.name for measure in scores.measures]) == (("1", "2"), ["AP"])


def test_attributes_that_are_ids_stay_text(tmp_path: Path) -> None:
    head = "query_id,system,measure,value,kind,weight\n"
    path = write(tmp_path, head + "q1,a,AP,1,007,02\nq2,a,AP,1,7,3\n")
    queries = read_scores(path, numeric=["weight"]).table.queries
    assert queries is not None
    assert queries.columns["kind"].tolist() == ["007", "7"]
    assert queries.columns["weight"].tolist() == [2, 3]
    weights = write(tmp_path, head + "q1,a,AP,1,x,heavy\n")
    with pytest.raises(InputError, match=r":2: weight 'heavy' is not a finite number$"):
        read_scores(weights, numeric=["weight"])


def test_attributes_of_several_files_are_numbers_where_all_are(tmp_path: Path) -> None:
    head = "query_id,system,measure,value,kind,size\n"
    first = write(tmp_path, head + "q1,a,AP,1,7,0.5\n", "1.csv")
    second = write(tmp_path, head + "q1,b,AP,1,7,.50\nq2,b,AP,1,x,2\n", "2.csv")
    queries = read_scores([first, second]).table.queries
    assert queries is not None
    assert queries.columns["kind"].tolist() == ["7", "x"]
    assert queries.columns["size"].tolist() == [0.5, 2]


def test_frequency_beside_scores(tmp_path: Path) -> None:
    head = "query_id,system,measure,value,clicks\n"
    read = read_scores(write(tmp_path, head + "q1,a,AP,1,many\n"))
    assert read.table.queries is not None
    assert read.table.queries.frequency is None
    assert "column clicks of" in read.audit.notes[0]
    grouped = write(tmp_path, head + 'q1,a,AP,1,"1,234"\n')
    assert problem(grouped).startswith(":2: clicks '1,234' is not a number; leave out separators of thousands")
    assert problem(write(tmp_path, head + "q1,a,AP,1,-1\n")) == ":2: clicks -1 is below 0"


VALUES = {("q1", "a", "nDCG@10"): 0.5, ("q1", "a", "AP(rel=2)"): 0.25, ("q 2", "a", "nDCG@10"): 1.0}
IR_MEASURES = (
    "q1\tnDCG@10\t0.5000\nq1\tAP(rel=2)\t0.2500\nq 2\tnDCG@10\t1.0000\nall\tnDCG@10\t0.75\nall\tAP(rel=2)\t0.25\n"
)


@pytest.mark.parametrize("summary", [True, False])
def test_ir_measures_output(tmp_path: Path, summary: bool) -> None:
    content = IR_MEASURES if summary else "".join(IR_MEASURES.splitlines(keepends=True)[:3])
    read = read_scores(f"a={write(tmp_path, content, 'x.txt')}")
    assert cells(read.table) == VALUES
    assert (read.audit.format, read.audit.mean_rows) == ("ir_measures", 2 * summary)


def test_ir_measures_output_in_json_lines(tmp_path: Path) -> None:
    rows = (line.split("\t") for line in IR_MEASURES.splitlines())
    content = "".join(json.dumps({"query_id": q, "measure": m, "value": float(v)}) + "\n" for q, m, v in rows)
    path = write(tmp_path, content, "a.jsonl")
    read = read_scores(path)
    assert cells(read.table) == VALUES
    assert read.audit.notes == (f"{path} has no column system, so that all its values are of a",)
    array = write(tmp_path, "[" + content.strip().replace("\n", ",") + "]", "a.json")
    assert cells(read_scores(array).table) == VALUES


def test_the_programs_themselves(tmp_path: Path) -> None:
    qrels, run = write(tmp_path, "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n", "qrels"), tmp_path / "a.run"
    write(tmp_path, "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d1 1 1 t\n", "a.run")
    measures = ["RR", "nDCG@10", "P(rel=2)@1"]
    expected = {
        ("q1", "a", "RR"): 0.5,
        ("q2", "a", "RR"): 1,
        ("q1", "a", "P(rel=2)@1"): 0,
        ("q2", "a", "P(rel=2)@1"): 1,
    }
    expected |= {("q1", "a", "nDCG@10"): 0.6309297535714575, ("q2", "a", "nDCG@10"): 1}
    for options in (["-q", "-p", "-1"], ["-q", "-n", "-p", "-1"], ["-q", "-o", "jsonl"]):
        command = [sys.executable, "-m", "ir_measures", str(qrels), str(run), *measures, *options]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert cells(read_scores(write(tmp_path, output, "a.eval")).table) == pytest.approx(expected)
    means = subprocess.run(command[:-3], capture_output=True, text=True, check=True).stdout
    assert problem(write(tmp_path, means)).startswith(
        ":1: a measure and its mean, but values of every query are needed (ir_measures and trec_eval need -q)"
    )
    judged = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank", "map"}).evaluate({"q1": {"d2": 2.0, "d1": 1.0}})
    path = write(tmp_path, json.dumps(theirs), "a.json")
    read = read_scores(path)
    assert cells(read.table) == {("q1", "a", "recip_rank"): 0.5, ("q1", "a", "map"): 0.5}
    assert read.audit.format == "JSON"


@pytest.mark.parametrize("content", ["x q1 0.5\nx q2 1\n", "map AP 0.5\n", "q1 x 0.5\nall x 0.5\nq1 all 1\n"])
def test_lines_that_may_be_of_either_program(tmp_path: Path, content: str) -> None:
    path = write(tmp_path, content)
    first, second, value = content.splitlines()[0].split()
    assert problem(path) == (
        f": the lines may be measure, query and value, or query, measure and value ('{first}', '{second}'); say which "
        "with --scores-format trec_eval or --scores-format ir_measures"
    )
    assert cells(read_scores(path, form="trec_eval").table)[(second, "scores", first)] == float(value)
    assert cells(read_scores(path, form="ir_measures").table)[(first, "scores", second)] == float(value)


@pytest.mark.parametrize(
    "content", ["map x 0.5\n", "x q1 0.5\nx all 0.5\n", "ndcg_cut_10 7 1\n", "P_5 nDCG 1\nP_5 all 1\n"]
)
def test_lines_of_trec_eval(tmp_path: Path, content: str) -> None:
    assert read_scores(write(tmp_path, content)).audit.format == "trec_eval"


@pytest.mark.parametrize(
    ("content", "form", "message"),
    [
        ("q1 AP 0.5\nq2 AP nan\n", None, ":2: value 'nan' of AP is not a finite number (query 'q2')"),
        ("q1 AP 0.5\nq2 AP\n", None, ":2: 2 fields where 3 are expected"),
        (
            "q1\tAP\t0.5\n\nq1\tAP\t1\n",
            None,
            ":3: AP of system 'scores' for query 'q1' is listed twice, first in line 1",
        ),
        (
            '{"q1": {"AP": 1,\n "AP": 2}}',
            None,
            ":2: AP of system 'scores' for query 'q1' is listed twice, first in line 1",
        ),
        ('{"q1": {"AP": 1,\n "RR": null}}', None, ":2: value None of query 'q1', measure 'RR' is not a finite number"),
        ('{"q1": {"AP": 1e101}}', None, ":1: AP of system 'scores' for query 'q1' is 1e+101, beyond 1e+100"),
        ("map q1 1\n", "json", ": is no JSON object {query_id: {measure: value}}; leave out --scores-format"),
        ("map q1 1\nmap q2 1\n", "table", ": no query id column; name it with --id (there are map q1 1)"),
        ("query_id,a\nq1,1\n", "trec_eval", ":1: neither a table with a column query_id nor output of trec_eval -q"),
    ],
)
def test_spoilt_output_of_programs(tmp_path: Path, content: str, form: str | None, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_scores(path, form=form)
    assert str(error.value).startswith(f"{path}{message}")


def test_the_names_of_all_measures_of_both_programs(tmp_path: Path) -> None:
    names = {str(measure) for measure in ir_measures.measures.registry.values()}  # as it writes them, without aliases
    for name in names:
        path = write(tmp_path, f"q1\t{name}@10\t0.5\nq1\t{name}\t0.5\n")
        assert read_scores(path).audit.format == "ir_measures", name
    assert len(names) > 30
    judged, run = {"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(judged, pytrec_eval.supported_measures).evaluate(run)["q1"]
    for name in theirs.keys() - {"runid", "relstring"}:
        assert read_scores(write(tmp_path, f"{name} q1 0.5\n")).audit.format == "trec_eval", name
    assert len(theirs) > 50


def test_unknown_scores_format() -> None:
    with pytest.raises(PlanError, match=r"scores format 'treceval' is unknown; .*did you mean 'trec_eval'"):
        read_scores("absent", form="treceval")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["out.test.aq", "out.test.aqc", "out.test.aqcM", "out.test.aql"])
def test_own_outputs_of_trec_eval(name: str) -> None:
    path = shared(f"data/ir/trec_eval-test/{name}")
    read = read_scores(path)
    fields = [line.split() for line in path.read_text().splitlines()]
    expected = {
        (row[1], name, row[0]): float(row[2])
        for row in fields
        if row[1] != "all" and not row[0].startswith("relstring")
    }
    assert {(query, name, measure): value for (query, _, measure), value in cells(read.table).items()} == expected
    assert read.audit.format == "trec_eval"
