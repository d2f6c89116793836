"""What a claim is found to be, in one word and one mark, the same on every page and in every figure."""

from __future__ import annotations

BETTER, WORSE, NOT_SHOWN, EQUIVALENT, TOO_FEW = "better", "worse", "not-shown", "equivalent", "too-few"
WITHHELD = "withheld"
NOT_TESTED = "not-tested"
"""Of a number that no test asks about, such as the effect on one day."""
HIGHER, LOWER = "higher", "lower"
"""What is shown of a measure whose direction is only assumed."""
MARKS = {
    BETTER: "▲",
    WORSE: "▼",
    NOT_SHOWN: "●",
    EQUIVALENT: "◆",
    WITHHELD: "■",
    TOO_FEW: "○",
    NOT_TESTED: "•",
    HIGHER: "△",
    LOWER: "▽",
}
PALE = (NOT_SHOWN, EQUIVALENT, WITHHELD, TOO_FEW, NOT_TESTED, HIGHER, LOWER)
"""Tones that are neither good nor bad: grey everywhere."""
SHOWN = (BETTER, WORSE, HIGHER, LOWER)
"""Tones of a difference that is shown, whichever side of it is the good one."""
HOLLOW = (TOO_FEW, HIGHER, LOWER)
"""Tones whose marks are drawn as outlines."""
ASSUMED = {BETTER: HIGHER, WORSE: LOWER}
"""What is said instead where only assumed is that higher is better."""
DIRECTION_ASSUMED = "direction assumed"
"""What stands beside such a claim."""
OPPOSITE = {BETTER: WORSE, WORSE: BETTER, HIGHER: LOWER, LOWER: HIGHER}
"""The tones of a comparison read the other way round."""
WORDS = {
    BETTER: "better",
    WORSE: "worse",
    NOT_SHOWN: "not shown",
    EQUIVALENT: "equivalent",
    WITHHELD: "withheld",
    TOO_FEW: "too few",
    NOT_TESTED: "not tested",
    HIGHER: "higher",
    LOWER: "lower",
}
