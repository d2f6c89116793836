"""Segments: cuts, labels, shares, and queries without a value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstats.comparison.segments import (
    NONE,
    Attribute,
    SegmentData,
    make_attributes,
    popularity_codes,
    split_specifications,
)
from rankstats.errors import PlanError
from rankstats.tables import Queries

TEXTS = ["shoes", "red shoes", "a b c", "a b c d", "a b c d e f g"]


def table() -> Queries:
    return Queries(
        query_ids=("1", "2", "3", "4", "5"),
        columns={
            "query": np.array(TEXTS, dtype=object),
            "clicks": np.array([50.0, 30.0, 10.0, 5.0, 5.0]),
            "kind": np.array(["x", "y", None, "x", "y"], dtype=object),
            "year": np.array([2019.0, 2020.0, 2019.0, np.nan, 2020.0]),
        },
        text="query",
        frequency="clicks",
    )


def attributes(*texts: str, ids: Sequence[str] = ("1", "2", "3", "4", "5")) -> tuple[Attribute, ...]:
    relevant = np.arange(len(ids), dtype=np.int64) * 6
    return make_attributes(texts, SegmentData.align(tuple(ids), table(), relevant))


def members(attribute: Attribute) -> dict[str, list[int]]:
    return {value: np.flatnonzero(attribute.members(value)).tolist() for value in attribute.values}


def test_length_is_short_up_to_three_words() -> None:
    (length,) = attributes("length")
    assert members(length) == {"short": [0, 1, 2], "long": [3, 4]}
    assert length.labels == {"short": "short (≤ 3 words)", "long": "long (> 3 words)"}
    assert length.share.tolist() == pytest.approx([0.9, 0.1])
    assert length.share_of == "traffic"


def test_length_takes_cuts() -> None:
    (length,) = attributes("length:2,5")
    assert members(length) == {"short": [0, 1], "medium": [2, 3], "long": [4]}
    assert length.labels["medium"] == "medium (3–5 words)"
    (length,) = attributes("length:6")
    assert members(length) == {"short": [0, 1, 2, 3], "long": [4]}
    assert length.name == "length"


def test_two_cuts_of_one_attribute_keep_their_names_apart() -> None:
    assert [a.name for a in attributes("length:2", "length:6")] == ["length:2", "length:6"]


def test_popularity_is_by_share_of_traffic() -> None:
    (popularity,) = attributes("popularity")
    # shares before each query: 0, .5, .8, .9, .9
    assert members(popularity) == {"head": [0], "torso": [1, 2], "tail": [3, 4]}
    assert popularity.share.tolist() == pytest.approx([0.5, 0.4, 0.1])
    (popularity,) = attributes("popularity:0.5,0.8")
    assert members(popularity) == {"head": [0], "torso": [1], "tail": [2, 3, 4]}


def test_popularity_counts_the_whole_table_not_the_judged_part() -> None:
    (popularity,) = attributes("popularity", ids=("3", "4"))
    assert members(popularity) == {"head": [], "torso": [0], "tail": [1]}
    assert popularity.share.tolist() == pytest.approx([0.5, 0.4, 0.1])


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40).filter(any))
def test_equal_frequencies_stay_together_in_any_order(counts: list[int]) -> None:
    frequency = np.array(counts, dtype=float)
    code = popularity_codes(frequency)
    for value in set(counts):
        assert len(set(code[frequency == value].tolist())) == 1
    order = np.argsort(-frequency, kind="stable")
    assert (np.diff(code[order]) >= 0).all()
    permuted = np.random.default_rng(len(counts)).permutation(len(counts))
    assert popularity_codes(frequency[permuted]).tolist() == code[permuted].tolist()


def test_columns_by_value_and_by_quantile() -> None:
    kind, year, clicks = attributes("kind", "year", "clicks:q2")
    assert members(kind) == {"x": [0, 3], "y": [1, 4], NONE: [2]}
    assert members(year) == {"2019": [0, 2], "2020": [1, 4], NONE: [3]}
    assert members(clicks) == {"q1": [2, 3, 4], "q2": [0, 1]}
    assert clicks.labels == {"q1": "q1 (≤ 10)", "q2": "q2 (> 10)"}


def test_a_column_named_like_a_built_in_is_reached_by_its_prefix() -> None:
    queries = Queries(("1", "2"), {"length": np.array(["long", "short"], dtype=object)})
    (attribute,) = make_attributes(["column:length"], SegmentData.align(("1", "2"), queries, None))
    assert attribute.name == "length"
    assert members(attribute) == {"long": [0], "short": [1]}


def test_combined_segments() -> None:
    (both,) = attributes("length+popularity")
    assert both.name == "length+popularity"
    assert members(both)["short+head"] == [0]
    assert members(both)["long+tail"] == [3, 4]
    assert both.labels["long+tail"] == "long (> 3 words), tail (90–100 % of traffic)"


def test_combined_values_stay_apart() -> None:
    queries = Queries(
        ("1", "2"), {"c": np.array(["x+y", "x"], dtype=object), "d": np.array(["z", "y+z"], dtype=object)}
    )
    (both,) = make_attributes(["c+d"], SegmentData.align(("1", "2"), queries, None))
    assert members(both) == {"(x+y)+z": [0], "x+(y+z)": [1]}


def test_the_word_for_no_value_is_no_value() -> None:
    queries = Queries(("1", "2", "3"), {"c": np.array(["(none)", None, "x"], dtype=object)})
    (attribute,) = make_attributes(["c"], SegmentData.align(("1", "2", "3"), queries, None))
    assert members(attribute) == {"x": [2], NONE: [0, 1]}


def test_relevant_documents() -> None:
    (relevant,) = attributes("relevant")
    assert members(relevant) == {"≤ 1": [0], "2–10": [1], "> 10": [2, 3, 4]}
    (relevant,) = attributes("relevant:6")
    assert members(relevant) == {"≤ 6": [0, 1], "> 6": [2, 3, 4]}


def test_judged_queries_outside_the_table_are_a_segment() -> None:
    (length,) = attributes("length", ids=("1", "9"))
    assert members(length) == {"short": [0], "long": [], NONE: [1]}


def test_every_query_is_in_exactly_one_segment() -> None:
    for attribute in attributes("length", "popularity", "kind", "year", "clicks:q4", "relevant", "length+kind"):
        assert sum(attribute.members(value) for value in attribute.values).tolist() == [1] * 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kindd", r"no column 'kindd' \(query, clicks, kind, year\); did you mean 'kind'"),
        ("length:x", r"cuts are numbers"),
        ("length:5,2", r"cuts must rise"),
        ("popularity:1.5", r"cuts are shares of the traffic between 0 and 1"),
        ("kind:q4", r"'kind' does not hold numbers only"),
        ("clicks:q1", r"from 2 to 20 quantiles"),
        ("clicks:4", r"quantiles are written clicks:q4"),
        ("length:nan", r"cuts are finite numbers"),
        ("kind+", r"a part is empty"),
    ],
)
def test_wrong_specifications(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        attributes(text)


def test_segments_need_their_data() -> None:
    data = SegmentData.align(("1",), None, None)
    for text, need in (("length", "--queries"), ("kind", "--queries"), ("relevant", "judgments")):
        with pytest.raises(PlanError, match=need):
            make_attributes([text], data)
    with pytest.raises(PlanError, match="twice"):
        attributes("kind", "kind")


def test_specifications_split_at_commas_but_not_inside_cuts() -> None:
    assert split_specifications(["length,popularity:0.5,0.9,kind", "length:2,5+kind"]) == (
        "length",
        "popularity:0.5,0.9",
        "kind",
        "length:2,5+kind",
    )
