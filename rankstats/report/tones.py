"""What a claim is found to be, in one word and one mark, the same on every page and in every figure."""

from __future__ import annotations

BETTER, WORSE, NOT_SHOWN, EQUIVALENT, TOO_FEW = "better", "worse", "not-shown", "equivalent", "too-few"
WITHHELD = "withheld"
MARKS = {BETTER: "▲", WORSE: "▼", NOT_SHOWN: "●", EQUIVALENT: "◆", WITHHELD: "■", TOO_FEW: "○"}
PALE = (NOT_SHOWN, EQUIVALENT, WITHHELD, TOO_FEW)
"""Tones without a direction: grey everywhere."""
WORDS = {
    BETTER: "better",
    WORSE: "worse",
    NOT_SHOWN: "not shown",
    EQUIVALENT: "equivalent",
    WITHHELD: "withheld",
    TOO_FEW: "too few",
}
