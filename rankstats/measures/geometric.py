"""Measures whose queries are combined by the geometric mean: GMAP and its counterpart of Bpref."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankstats.measures.declaration import NO_RELEVANT, REL, Alias, Declaration, Settings, Values
from rankstats.measures.evaluation import Evaluation, divide
from rankstats.measures.incomplete import BPREF
from rankstats.measures.ranked import AVERAGE_PRECISION

FLOOR = 0.00001
"""Smaller values are raised to it before the logarithm (trec_eval MIN_GEO_MEAN)."""
_LOWEST = math.log(FLOOR)
_AS_USUAL: Settings = {"denominator": "R"}


def _logarithm(of: Declaration) -> Callable[[Evaluation, Settings], Values]:
    """Return the values of the logarithm of a measure that divides a sum over documents."""
    terms, denominator = of.terms, of.denominator
    assert terms is not None
    assert denominator is not None

    def values(evaluation: Evaluation, settings: Settings) -> Values:
        settings = {**settings, **_AS_USUAL}
        found = divide(evaluation.sum(terms(evaluation, settings)), denominator(evaluation, settings))
        logarithms: Values = np.log(np.maximum(found, FLOOR))
        return logarithms

    return values


def _geometric(name: str, of: Declaration, alias: str) -> Declaration:
    return Declaration(
        name=name,
        title=f"Geometric mean {of.title[0].lower()}{of.title[1:]}",
        summary=f"logarithm of {of.name}, so that a query helped from 0.01 to 0.02 counts like one from 0.4 to 0.8",
        formula=lambda settings: (
            f"ln(max({of.name}, {FLOOR:.5f})) of each query; {of.formula({**settings, **_AS_USUAL})}"
        ),
        source=f"Robertson 2006; trec_eval {alias}",
        bounds=(_LOWEST, 0),
        cutoff="none",
        parameters=(REL,),
        conventions={
            "denominator": "R, the judged relevant documents, returned or not",
            "floor": f"values below {FLOOR:.5f} are raised to it",
            "aggregate": "mean of the logarithms; its exponential is the geometric mean that trec_eval prints",
        },
        undefined=NO_RELEVANT,
        values=_logarithm(of),
        zero=_LOWEST,
        missing=f"a judged query that a run lacks has the value ln({FLOOR:.5f}) = {_LOWEST:.4f}",
        aggregate="geometric mean",
        remark="logarithms",
        aliases=(Alias(alias, "trec_eval", cutoff=False),),
    )


GEOMETRIC_AP = _geometric("GMAP", AVERAGE_PRECISION, "gm_map")
GEOMETRIC_BPREF = _geometric("GMBpref", BPREF, "gm_bpref")

DECLARATIONS = (GEOMETRIC_AP, GEOMETRIC_BPREF)
