"""What people ask of a page is answered where the README says."""

from __future__ import annotations

import re

import pytest

from rankstats.report.html import render_html
from tests.readme import README
from tests.report.kinds import report
from tests.report.sample import sample_report

pytestmark = pytest.mark.usefixtures("no_figures")

PLACES = {
    "comparison": ("Every comparison", "Where it wins and loses", "Biggest wins and losses", "All queries",
                   "Data health", "Agreement", "Method and reproduction", "How to repeat it",
                   "How many queries carry the difference"),
    "no-go": ("Rules of the policy", "Where it wins and loses", "Biggest wins and losses", "Method and reproduction"),
    "experiment": ("Guards, adjustment and days", "The same effects otherwise", "Checks of the experiment",
                   "Where it wins and loses", "Method and reproduction", "How to repeat it"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLACES)
def test_every_place_that_the_readme_names_is_on_the_page(kind: str) -> None:
    html = render_html(report(kind))
    readme = README.read_text(encoding="utf-8")
    headings = re.findall(r"<(?:h[1-4]|caption|figcaption)\b[^>]*>([^<]+)", html)
    for place in PLACES[kind]:
        assert place in readme, place
        # a caption may name the pair after it
        assert any(heading.strip().startswith(place) for heading in headings), place


def test_the_first_screen_says_how_sure_and_what_would_be_seen() -> None:
    html = render_html(sample_report())
    verdict = re.sub(r"<[^>]+>", " ", html[html.index('id="verdict"') : html.index("<nav")])
    for part in (r"95\s%\sinterval", r"adjusted\sp", r"n\s=\s239", "can show differences of", "things to know"):
        assert re.search(part, verdict), part


def test_what_was_computed_can_be_repeated_from_the_page_alone() -> None:
    made = sample_report()
    html = render_html(made)
    method = html[html.index('<section id="method"') :]
    for told in (*made["reproduction"]["argv"], made["reproduction"]["inputs"][0]["sha256"], "Bonferroni", "10,000"):
        assert told in method, told
    for version in made["reproduction"]["versions"].values():
        assert version in method
