"""A small outdoor and kitchen shop, made here: products, queries, judgments, and three rankers that search it.

Nothing is read from anywhere: customers' needs come first, judges grade products by the needs, rankers see only the
titles and the text of the query. Shop, queries and rankers were put together so that the rankers differ for reasons
that show in the queries; the demonstration says nothing of such rankers elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rankstats.demo.catalogue import Product, make_catalogue
from rankstats.demo.dice import Dice
from rankstats.demo.judging import judge
from rankstats.demo.queries import Query, make_queries
from rankstats.demo.rankers import RANKERS

__all__ = ["TITLE", "Demo", "demo_files", "make_demo"]

TITLE = "Shop search: trigrams and popularity against exact words"
"""What the demonstration's report is called."""

_SEED = 20


@dataclass(frozen=True, slots=True)
class Demo:
    """The demonstration: what is needed for a comparison, as plain rows.

    Attributes
    ----------
    products : tuple of Product
        The catalogue, sorted by id.
    queries : tuple of Query
        The queries, sorted by id.
    qrels : tuple of (query_id, doc_id, grade)
        The judgments, sorted; grades 0 to 3.
    runs : dict of str to tuple of (query_id, doc_id, rank, score)
        The rankings, one a ranker: 'keyword', 'ngram', 'popular'. A query for which a ranker finds nothing has no
        rows.
    """

    products: tuple[Product, ...]
    queries: tuple[Query, ...]
    qrels: tuple[tuple[str, str, int], ...]
    runs: dict[str, tuple[tuple[str, str, int, float], ...]]


def make_demo() -> Demo:
    """Make the demonstration; the same on every platform, each time.

    Returns
    -------
    Demo
        About 400 products, 240 queries and three rankings.

    Examples
    --------
    >>> demo = make_demo()
    >>> len(demo.queries), sorted(demo.runs)
    (240, ['keyword', 'ngram', 'popular'])
    """
    dice = Dice(_SEED)
    products = make_catalogue(dice)
    queries = make_queries(products, dice)
    qrels = judge(products, queries, dice)
    runs = {name: _rows(queries, ranker(products, [q.text for q in queries])) for name, ranker in RANKERS.items()}
    return Demo(tuple(products), tuple(queries), tuple(qrels), runs)


def demo_files(demo: Demo | None = None) -> dict[str, str]:
    """Return the texts of the demonstration's files by name; the caller writes them.

    Parameters
    ----------
    demo : Demo, optional
        What `make_demo` returned; made if absent.

    Returns
    -------
    dict of str to str
        'qrels.txt' and '<ranker>.run' in TREC format, 'queries.tsv' (query_id, query, frequency, category, kind)
        and 'products.tsv' (doc_id, title, category, sales).

    Examples
    --------
    >>> demo_files()["queries.tsv"].splitlines()[0].split()
    ['query_id', 'query', 'frequency', 'category', 'kind']
    """
    demo = make_demo() if demo is None else demo
    files = {"qrels.txt": _lines(f"{query} 0 {doc} {grade}" for query, doc, grade in demo.qrels)}
    for name, rows in demo.runs.items():
        files[f"{name}.run"] = _lines(f"{query} Q0 {doc} {rank} {score:.6f} {name}" for query, doc, rank, score in rows)
    files["queries.tsv"] = _table(
        ("query_id", "query", "frequency", "category", "kind"),
        ((q.query_id, q.text, str(q.frequency), q.category, q.kind) for q in demo.queries),
    )
    files["products.tsv"] = _table(
        ("doc_id", "title", "category", "sales"),
        ((p.doc_id, p.title, p.type.department, str(p.sales)) for p in demo.products),
    )
    return files


def _rows(queries: list[Query], rankings: list[list[tuple[str, float]]]) -> tuple[tuple[str, str, int, float], ...]:
    return tuple(
        (query.query_id, doc_id, rank, score)
        for query, ranking in zip(queries, rankings, strict=True)
        for rank, (doc_id, score) in enumerate(ranking, start=1)
    )


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return _lines("\t".join(row) for row in (header, *rows))
