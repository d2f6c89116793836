from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rankstats.errors import InputError
from rankstats.inputs import read_histories
from rankstats.tables import Histories
from tests.shared import shared


def write(folder: Path, content: str) -> Path:
    path = folder / "history"
    path.write_bytes(content.encode())
    return path


def rows_of(histories: Histories) -> list[tuple[str, str]]:
    users = [histories.query_ids[code] for code in histories.query.tolist()]
    return list(zip(users, histories.doc_ids.to_pylist(), strict=True))


@pytest.mark.parametrize(
    "content",
    [
        "userId,movieId,rating,timestamp\n7,a,2.5,1\n007,b,3,2\n7,c,1,3\n",
        "item\tquery_id\na\t7\nb\t007\nc\t7\n",
        "7 0 a 2.5\n\n007 0 b 3\n7 0 c 1\n",
        '{"user": "7", "item_id": "a"}\n{"user": "007", "item_id": "b"}\n{"user": "7", "item_id": "c"}\n',
    ],
)
def test_formats(tmp_path: Path, content: str) -> None:
    read = read_histories(write(tmp_path, content))
    assert rows_of(read.table) == [("7", "a"), ("007", "b"), ("7", "c")]
    assert read.table.query_ids == ("7", "007")
    assert (read.audit.rows, read.audit.sources) == (3, (read.table.source,))


def test_named_columns_where_the_table_has_them(tmp_path: Path) -> None:
    path = write(tmp_path, "user,who,item,what\nx,7,y,a\n")
    assert rows_of(read_histories(path, id_column="who", item_column="what").table) == [("7", "a")]
    assert rows_of(read_histories(path, id_column="qid", item_column="movie").table) == [("x", "y")]


def test_data_handed_in() -> None:
    frame = pd.DataFrame({"user_id": [7, 7], "item_id": ["a", "b"]})
    histories = read_histories(frame).table
    assert rows_of(histories) == rows_of(read_histories([("7", "a"), ("7", "b")]).table) == [("7", "a"), ("7", "b")]
    assert read_histories(histories).table is histories


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("who,item\n1,a\n", ": no user column; name it with --id (there are who, item)"),
        ("user,what\n1,a\n", ": no item column; name it with --item-id (there are user, what)"),
        ("user,item\n1,a\n,b\n", ":3: user is empty"),
        ("7 0 a 1\n7 0 b\n", ":2: 3 fields where 4 are expected (qid iter docid rating)"),
    ],
)
def test_faults(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_histories(path)
    assert str(error.value).removeprefix(str(path)) == message


@pytest.mark.shared
def test_ratings_of_movies() -> None:
    histories = read_histories(shared("data/recsys/ml-latest-small-2016/ratings.csv.gz")).table
    assert (len(histories.query), len(histories.query_ids)) == (100_004, 671)
    assert rows_of(histories)[0] == ("1", "31")
