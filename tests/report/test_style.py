"""The colours of the page, light and dark: text and marks stand out as WCAG 2.2 AA asks."""

from __future__ import annotations

import re

import pytest

from rankstats.report.html import template_text

TEXTS = ("ink", "quiet", "better", "worse", "link")
GROUNDS = ("paper", "shade")
MARKS = ("better-fill", "worse-fill", "grey", "ink", "quiet")


def palettes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", template_text("style.css"), re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks)
    return {"light": light, "dark": light | dark}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read(theme: str) -> None:
    colours = palettes()[theme]
    for text in TEXTS:
        for ground in GROUNDS:
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    # the counts within the bars of better, equal and worse queries
    assert contrast(colours["paper"], colours["better-fill"]) >= 4.5
    assert contrast("#000000", colours["worse-fill"]) >= 4.5
    assert contrast(colours["ink"], colours["band"]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_mark_can_be_seen(theme: str) -> None:
    colours = palettes()[theme]
    for mark in MARKS:
        assert contrast(colours[mark], colours["paper"]) >= 3, mark
