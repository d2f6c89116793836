"""Three rankers over the titles: exact words, character n-grams, and exact words with a push for what sells.

Each is a known method as search engines and databases offer it, with its usual parameters. Scores are rounded to six
decimals, so that the last bits of a platform's logarithm change nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from rankstats.demo.catalogue import Product

DEPTH = 100
"""Products listed for a query at most."""

_K1, _B = 1.2, 0.75

Scored = list[tuple[str, float]]


def words(text: str) -> list[str]:
    """Return the lower-case words and numbers of a text; an apostrophe joins.

    Examples
    --------
    >>> words("Norrvik Rain Jacket Women's 30 litre")
    ['norrvik', 'rain', 'jacket', 'womens', '30', 'litre']
    """
    return re.findall(r"[a-z0-9]+", text.lower().replace("'", ""))


def trigrams(text: str) -> frozenset[str]:
    """Return the sequences of three characters of every word, two spaces before it and one after it.

    Examples
    --------
    >>> sorted(trigrams("Pan"))
    ['  p', ' pa', 'an ', 'pan']
    """
    marked = [f"  {word} " for word in words(text)]
    return frozenset(word[at : at + 3] for word in marked for at in range(len(word) - 2))


class Index:
    """BM25 [Robertson & Zaragoza 2009] over the words of the titles, k1 = 1.2 and b = 0.75.

    Parameters
    ----------
    products : sequence of Product
        What is searched.
    """

    def __init__(self, products: Sequence[Product]) -> None:
        counts = {product.doc_id: Counter(words(product.title)) for product in products}
        lengths = {doc_id: count.total() for doc_id, count in counts.items()}
        mean_length = sum(lengths.values()) / len(lengths)
        self._n = len(counts)
        self._postings: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for doc_id, count in counts.items():
            norm = _K1 * (1 - _B + _B * lengths[doc_id] / mean_length)
            for word, times in count.items():
                self._postings[word].append((doc_id, times * (_K1 + 1) / (times + norm)))

    def search(self, query: str) -> dict[str, float]:
        """Return the score of every product that shares a word with the query."""
        scores: dict[str, float] = defaultdict(float)
        for word in words(query):
            postings = self._postings.get(word, [])
            rarity = math.log(1 + (self._n - len(postings) + 0.5) / (len(postings) + 0.5))
            for doc_id, weight in postings:
                scores[doc_id] += rarity * weight
        return dict(scores)


def keyword(products: Sequence[Product], queries: Sequence[str]) -> list[Scored]:
    """Rank by BM25 over exact words: no stemming, no spelling correction, no synonyms."""
    index = Index(products)
    return [_best(index.search(query)) for query in queries]


def ngram(products: Sequence[Product], queries: Sequence[str]) -> list[Scored]:
    """Rank by the trigrams that query and title share, divided by all that either has (Jaccard).

    This forgives spelling and joined words; it also likes short titles and words that merely look alike.
    """
    titles = {product.doc_id: trigrams(product.title) for product in products}
    rankings = []
    for asked in map(trigrams, queries):
        shared = {doc_id: len(asked & own) for doc_id, own in titles.items()}
        rankings.append(_best({d: n / (len(asked) + len(titles[d]) - n) for d, n in shared.items() if n}))
    return rankings


def popular(products: Sequence[Product], queries: Sequence[str]) -> list[Scored]:
    """Rank by the keyword score times the logarithm of 1 + sales."""
    index = Index(products)
    push = {product.doc_id: math.log1p(product.sales) for product in products}
    found = [index.search(query) for query in queries]
    return [_best({doc_id: score * push[doc_id] for doc_id, score in scores.items()}) for scores in found]


RANKERS: dict[str, Callable[[Sequence[Product], Sequence[str]], list[Scored]]] = {
    "keyword": keyword,
    "ngram": ngram,
    "popular": popular,
}


def _best(scores: dict[str, float]) -> Scored:
    """Return the first products: by score, then by id descending, as tied scores are ordered everywhere here."""
    rounded = [(doc_id, round(score, 6)) for doc_id, score in scores.items()]
    by_id = sorted(rounded, key=lambda pair: pair[0], reverse=True)
    return sorted(by_id, key=lambda pair: -pair[1])[:DEPTH]
