"""Ratings tables, long and wide, and every way to spoil them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rankstats.errors import InputError
from rankstats.inputs.ratings import Ratings, read_ratings
from tests.shared import shared


def read(folder: Path, text: str, **columns: object) -> Ratings:
    path = folder / "r.csv"
    path.write_text(text, encoding="utf-8")
    return read_ratings(path, **columns).table  # type: ignore[arg-type]  # words of any option


def test_long_and_wide_tables_hold_the_same(tmp_path: Path) -> None:
    long = read(tmp_path, "item,rater,grade\na,ann,2\nb,bob,0\na,bob,1\nc,ann,\nc,bob,1\n")
    wide = read(tmp_path, "item,ann,bob\na,2,1\nb,,0\nc,,1\n")
    assert long.raters == wide.raters == ("ann", "bob")
    assert_array_equal(long.values, wide.values)
    assert_array_equal(wide.values, [[2, 1], [np.nan, 0], [np.nan, 1]])
    assert (wide.words, wide.clusters, wide.cluster_name) == ((), None, None)


def test_query_and_document_name_an_item_and_the_query_is_its_cluster(tmp_path: Path) -> None:
    table = read(tmp_path, "Query,DocID,note,r1,r2\nred,007,x,1,1\nred,7,y,2,1\nblue,007,z,,3\n")
    assert table.clusters == ("red", "red", "blue")
    assert table.cluster_name == "Query"
    assert table.raters == ("r1", "r2")
    long = read(tmp_path, "qid\tdoc_id\tassessor\trating\n1\td\ta\t0\n1\td\tb\t1\n2\td\ta\t1\n".replace("\t", ","))
    assert long.clusters == ("1", "2")
    assert_array_equal(long.values, [[0, 1], [1, np.nan]])


def test_named_columns(tmp_path: Path) -> None:
    text = "page,section,who,mark,group\np,1,x,3,g\np,2,x,2,h\np,1,y,3,g\n"
    table = read(tmp_path, text, items=("page", "section"), rater="who", grade="mark", cluster="group")
    assert table.values.shape == (2, 2)
    assert table.clusters == ("g", "h")
    wide = read(tmp_path, "item,a,b,final,rater\ni,1,2,3,zz\n", raters=("final", "a"))
    assert wide.raters == ("final", "a")
    assert_array_equal(wide.values, [[3, 1]])


def test_words_are_grades_without_order(tmp_path: Path) -> None:
    table = read(tmp_path, "item,rater,label\na,x,yes\na,y,no\nb,x,\nb,y,yes\n")
    assert table.words == ("no", "yes")
    assert_array_equal(table.values, [[1, 0], [np.nan, 1]])
    wide = read(tmp_path, "item,x,y\na,yes,no\nb,,yes\n")
    assert_array_equal(wide.values, table.values)
    mixed = read(tmp_path, "item,x,y\na,1,good\nb,2,1\n", raters=("x", "y"))
    assert mixed.words == ("1", "2", "good")
    assert_array_equal(mixed.values, [[0, 2], [1, 0]])


def test_three_assessors_of_a_shop() -> None:
    found = read_ratings(shared("data/annotators/chorus/Broad_Query_Set_individual_ratings.csv.gz"))
    assert found.table.values.shape == (3188, 4)
    assert found.table.cluster_name == "query"
    assert len(set(found.table.clusters or ())) == 135
    assert found.audit.notes == (
        "columns without numbers are not taken as raters: name, description (--raters names them)",
    )


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("item,a,b\nx,1,1\nx,2,2\n", {}, "r.csv:3: item 'x' is listed twice, first in line 2"),
        (
            "query,doc,rater,grade\nq,d,a,1\nq,d,b,1\nq,d,a,2\n",
            {},
            "r.csv:4: 'a' rates item 'q' and 'd' twice, first in line 2; remove one",
        ),
        ("item,rater,grade\nx,a,1\ny,a,2\n", {}, "r.csv: holds the ratings of a alone; agreement needs two raters"),
        ("item,a,note\nx,1,good\n", {}, "r.csv: has one column of ratings, a; agreement needs two raters"),
        ("item\nx\n", {}, "r.csv: has no column of ratings"),
        ("item,rater\nx,a\n", {}, "r.csv: has a column rater but no grade column; name it with --grade"),
        ("item,a,b\nx,1,1\n", {"raters": ("a", "c")}, "r.csv: no column 'c' (--raters)"),
        ("item,a,b\nx,1,1\n", {"items": ("itm",)}, "r.csv: no column 'itm' (--item); did you mean 'item'?"),
        ("item,a,b\nx,1,1\n", {"cluster": "q"}, "r.csv: no column 'q' (--cluster)"),
        ("item,a,b\n,1,1\n", {}, "r.csv:2: item is empty"),
        (
            "item,rater,grade,query\nx,a,1,q\nx,b,1,p\n",
            {"items": ("item",), "cluster": "query"},
            "r.csv:3: query of item 'x' is 'p', but 'q' in line 2",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, columns: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, **columns)
    assert message in str(caught.value)
