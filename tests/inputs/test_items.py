from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from rankstats.errors import InputError
from rankstats.inputs import read_items
from rankstats.tables import Items
from tests.shared import shared


def write(folder: Path, content: str) -> Path:
    path = folder / "items"
    path.write_bytes(content.encode())
    return path


def problem(path: Path, **columns: str) -> str:
    with pytest.raises(InputError) as error:
        read_items(path, **columns)
    return str(error.value).removeprefix(str(path))


def categories_of(items: Items) -> list[list[str]]:
    kinds = items.categories
    assert kinds is not None
    pairs = zip(kinds.offsets[:-1], kinds.offsets[1:], strict=True)
    return [[kinds.names[code] for code in kinds.code[start:end]] for start, end in pairs]


@pytest.mark.parametrize(
    "content",
    [
        "doc_id,popularity,category\n007,3,b|a\n1e5,,\né,0.5,a\n",
        "category;Popularity;Item ID\r\nb;3;007\r\n;;1e5\r\na;0.5;é\r\n".replace("b;3", '"b;a";3'),
        "popularity\tmovieId\tgenres\n3\t007\t a | b | a \n\t1e5\t|\n0.5\té\ta\n",
        '{"product-id": "007", "clicks": 3, "genre": ["a", "b", null]}\n{"product-id": "1e5"}\n'
        '{"product-id": "é", "clicks": 0.5, "genre": "a"}\n',
    ],
)
def test_formats(tmp_path: Path, content: str) -> None:
    read = read_items(write(tmp_path, content))
    items = read.table
    assert items.doc_ids.to_pylist() == ["007", "1e5", "é"]
    assert items.popularity is not None
    assert items.popularity.tolist() == pytest.approx([3, np.nan, 0.5], nan_ok=True)
    assert categories_of(items) == [["a", "b"], [], ["a"]]
    assert items.vectors is None
    assert (read.audit.rows, read.audit.sources) == (3, (items.source,))
    assert len(items) == 3


@pytest.mark.parametrize(
    "content",
    [
        "id,vector\na,1 -2.5\nb,\nc,0 1e3\n",
        'id\tembedding\na\t[1, -2.5]\nb\t\nc\t"[0,1000]"\n'.replace('"', ""),
        "id,vector_10,vector_9\na,-2.5,1\nb,,\nc,1000,0\n",
        "id;vec;popularity\na;1,-2.5;1\nb;;2\nc;0|1000;3\n",
        '{"id": "a", "vector": [1, -2.5]}\n{"id": "b"}\n{"id": "c", "vector": [0, 1000.0]}\n',
    ],
)
def test_vectors(tmp_path: Path, content: str) -> None:
    items = read_items(write(tmp_path, content)).table
    assert items.vectors is not None
    np.testing.assert_array_equal(items.vectors, [[1, -2.5], [np.nan, np.nan], [0, 1000]])


def test_a_vector_that_is_not_whole_is_none(tmp_path: Path) -> None:
    items = read_items(write(tmp_path, "id,v1,v2\na,1,\nb,1,2\n"), vector="v").table
    assert items.vectors is not None
    np.testing.assert_array_equal(items.vectors, [[np.nan, np.nan], [1, 2]])


def test_a_vector_of_one_number(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    pa.parquet.write_table(pa.table({"doc_id": ["a", "b"], "vector": [1.5, None]}), path)
    items = read_items(path).table
    assert items.vectors is not None
    np.testing.assert_array_equal(items.vectors, [[1.5], [np.nan]])


def test_parquet_lists(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    table = {"doc_id": [12345678901234567, 7], "vector": [[0.5, 1.0], [2.0, 3.0]], "category": [["x", "y"], []]}
    pa.parquet.write_table(pa.table(table), path)
    items = read_items(path).table
    assert items.doc_ids.to_pylist() == ["12345678901234567", "7"]
    assert items.vectors is not None
    assert items.vectors.tolist() == [[0.5, 1], [2, 3]]
    assert categories_of(items) == [["x", "y"], []]


class Product(NamedTuple):
    doc_id: str
    popularity: float


def test_data_handed_in() -> None:
    frame = pd.DataFrame({"doc_id": ["a", "b"], "popularity": [2, 1], "vector": [[1.0, 0.0], [0.0, 1.0]]})
    before = frame.copy(deep=True)
    of_frame = read_items(frame).table
    assert of_frame.vectors is not None
    assert of_frame.vectors.tolist() == [[1, 0], [0, 1]]
    pd.testing.assert_frame_equal(frame, before)
    of_tuples = read_items([Product("a", 2), Product("b", 1)]).table
    for items in (of_frame, of_tuples):
        assert items.doc_ids.to_pylist() == ["a", "b"]
        assert items.popularity is not None
        assert items.popularity.tolist() == [2, 1]
        assert items.source.name == "items"
        assert items.source.sha256
    assert read_items(of_frame).table is of_frame


def test_a_catalogue_of_ids_only(tmp_path: Path) -> None:
    items = read_items(write(tmp_path, "doc_id\na\nb\n")).table
    assert (items.popularity, items.categories, items.vectors) == (None, None, None)
    assert items.columns == ("doc_id",)
    assert len(items) == 2


def test_named_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "key,doc_id,sold,kind,count,v1,v2\na,x,1,K,9,1,0\nb,y,2,L,9,0,1\n")
    items = read_items(path, id_column="key", popularity="sold", category="kind", vector="v").table
    assert items.doc_ids.to_pylist() == ["a", "b"]
    assert items.popularity is not None
    assert items.popularity.tolist() == [1, 2]
    assert categories_of(items) == [["K"], ["L"]]
    assert items.vectors is not None
    assert items.vectors.tolist() == [[1, 0], [0, 1]]
    there = "(there are key, doc_id, sold, kind, count, v1, v2)"
    assert problem(path, id_column="kye") == f": no column 'kye' (--item-id); did you mean 'key'? {there}"
    assert problem(path, popularity="solt") == f": no column 'solt' (--popularity); did you mean 'sold'? {there}"
    assert problem(path, category="kin") == f": no column 'kin' (--category); did you mean 'kind'? {there}"
    assert problem(path, vector="vectors") == f": no column 'vectors' (--vector) {there}"


def test_a_known_name_that_holds_no_number_is_not_the_popularity(tmp_path: Path) -> None:
    items = read_items(write(tmp_path, "doc_id,count,clicks\na,Dracula,3\n")).table
    assert items.popularity is not None
    assert items.popularity.tolist() == [3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,popularity\na,1\n", ": no item id column; name it with --item-id (there are name, popularity)"),
        ("doc_id,popularity\na,1\nb,2\na,3\n", ":4: item 'a' is listed twice, first in line 2; remove one"),
        ("doc_id,popularity\na,1\n,2\n", ":3: doc_id is empty"),
        ("doc_id,popularity\na,1\nb,-2\n", ":3: popularity -2 is below 0"),
        ("doc_id,popularity\na,1\nb,many\n", ":3: popularity 'many' is not a finite number"),
        ("doc_id,popularity\na,1\nb,inf\n", ":3: popularity 'inf' is not a finite number"),
        ("doc_id,popularity\na,1e200\n", ":2: popularity 1e+200 is beyond 1e+100"),
        ("doc_id,vector\na,1 2\nb,1 2 3\n", ":3: vector has 3 numbers, where line 2 has 2"),
        ("doc_id,vector\na,1 x\n", ":2: vector '1 x' is not a list of numbers"),
        ("doc_id,vector\na,1 nan\n", ":2: vector '1 nan' is not a list of finite numbers"),
        ("doc_id,vector\na,[]\n", ":2: vector '[]' is not a list of finite numbers"),
        ("doc_id,vector\na,1 1e200\n", ":2: vector holds a number beyond 1e+100"),
        ("doc_id,v_1,v_2\na,1,1\nb,1,x\n", None),
        ("doc_id\tcategory\na\t[b\n", ":2: category '[b' is not a JSON list"),
        ("doc_id,popularity\n", ": the table has no rows"),
        ("doc_id,popularity\na\n", ":2: 1 cell where 2 are expected (doc_id, popularity)"),
        ("", ": the file is empty"),
    ],
)
def test_fault_is_named_with_its_line(tmp_path: Path, content: str, message: str | None) -> None:
    path = write(tmp_path, content)
    if message is None:
        assert problem(path, vector="v") == ":3: v_2 'x' is not a finite number"
    else:
        assert problem(path) == message


@pytest.mark.shared
def test_movies() -> None:
    path = shared("data/recsys/ml-latest-small-2016/movies.csv.gz")
    items = read_items(path).table
    lines = gzip.decompress(path.read_bytes()).decode().strip().split("\n")
    assert len(items) == len(lines) - 1 == 9125
    assert items.columns == ("movieId", "title", "genres")
    assert categories_of(items)[0] == ["Adventure", "Animation", "Children", "Comedy", "Fantasy"]
    assert items.categories is not None
    assert "(no genres listed)" in items.categories.names
    assert int(items.categories.count.sum()) == sum(line.rsplit(",", 1)[1].count("|") + 1 for line in lines[1:])
