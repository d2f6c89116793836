"""Interleaving: the log of pages that rankers share, to a readout of which ranker users prefer.

`rows` reads a log, `pages` makes impressions of its rows, `evidence` credits clicks to rankers, `checks` says what
could mislead, `effects` tests the preferences, and `readout` puts it together in a `result`.
"""

from rankstats.interleaving.evidence import read_evidence
from rankstats.interleaving.readout import interleaving_readout, read_out_log
from rankstats.interleaving.result import InterleavingReadout
from rankstats.interleaving.settings import InterleavingSettings, overridden, settings_from_plan

__all__ = [
    "InterleavingReadout",
    "InterleavingSettings",
    "interleaving_readout",
    "overridden",
    "read_evidence",
    "read_out_log",
    "settings_from_plan",
]
