"""Writes the same judgments and the same run in every format."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.parquet

Row = tuple[str, str, float]


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue().to_pybytes())


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}


def lines(rows: Iterable[Iterable[object]], separator: str) -> bytes:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def nested(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]] = {}
    for query_id, doc_id, number in rows:
        values.setdefault(query_id, {})[doc_id] = number
    return values


def records(rows: Iterable[Row], names: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def parquet(rows: Iterable[Row], names: tuple[str, str, str]) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(records(rows, names)), sink)
    return sink.getvalue()


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def tables(rows: list[Row], names: tuple[str, str, str]) -> dict[str, bytes]:
    """The rows as tables with named columns."""
    return {
        "csv": lines([names, *rows], ","),
        "semicolons": lines([names, *rows], ";"),
        "tsv": lines([(name.upper() for name in names), *rows], "\t"),
        "quoted csv": lines([names, *((quoted(query), quoted(doc), number) for query, doc, number in rows)], ","),
        "json lines": "".join(json.dumps(record) + "\n" for record in records(rows, names)).encode(),
        "json array": json.dumps(records(rows, names), indent=1).encode(),
        "parquet": parquet(rows, names),
    }


def judgments_in_every_format(rows: list[Row]) -> dict[str, bytes]:
    """Contents by format; grades are whole numbers, ids hold no white space."""
    ratings = [
        {"query": query, "ratings": [{"docId": doc, "rating": f"{grade:.3f}"} for doc, grade in of_query.items()]}
        for query, of_query in nested(rows).items()
    ]
    whole = [(query, doc, int(grade)) for query, doc, grade in rows]
    return {
        "trec": lines(((query, 0, doc, grade) for query, doc, grade in rows), " "),
        "trec, tabs": lines(((query, "Q0", doc, grade) for query, doc, grade in whole), "\t"),
        "three columns": lines(whole, " "),
        "three columns, tabs": lines(rows, "\t"),
        **tables(rows, ("query-id", "corpus-id", "score")),
        "json": json.dumps(nested(rows)).encode(),
        "json, indented": json.dumps(nested(whole), indent=4).encode(),
        "opensearch ratings": json.dumps({"name": "x", "judgmentRatings": ratings}, indent=2).encode(),
        "letor": lines(
            ((grade, f"qid:{query}", "1:0.5", f"#docid = {doc} inc = 1 prob = 0.08") for query, doc, grade in rows), " "
        ),
        "letor, plain comment": lines(
            ((grade, f"qid:{query}", "#", doc, "a title") for query, doc, grade in rows), "\t"
        ),
    }


def run_in_every_format(rows: list[Row]) -> dict[str, bytes]:
    """Contents by format; the rows of a query stand together, in the order of their ranks."""
    place: dict[str, int] = {}
    ranked: list[Row] = []
    for query, doc, _ in rows:
        place[query] = place.get(query, 0) + 1
        ranked.append((query, doc, place[query]))
    full = [
        (query, "Q0", doc, rank, score, "tag") for (query, doc, rank), (*_, score) in zip(ranked, rows, strict=True)
    ]
    shuffled = list(rows)
    random.Random(7).shuffle(shuffled)
    return {
        "trec": lines(full, " "),
        "trec, tabs": lines(full, "\t"),
        "rank": lines(ranked, "\t"),
        "score": lines(shuffled, " "),
        **{f"{name} of scores": content for name, content in tables(shuffled, ("qid", "docno", "score")).items()},
        **{f"{name} of ranks": content for name, content in tables(ranked, ("q_id", "doc_id", "rank")).items()},
        "json": json.dumps(nested(shuffled)).encode(),
        "json, indented": json.dumps(nested(shuffled), indent=2).encode(),
    }
