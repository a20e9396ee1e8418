"""The report for a privacy review: a page of its own, with the core's numbers, that no name from data can break."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from kits import NASTY, USERS, ages, kit_of, members

from ldp_core import analysis, beliefs, designs, verdicts, wording
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.report import NIST, report
from ldp_core.designs import bundle

SUBSET = ages()
FILES = {"device.json": "ab" * 32}


class Read(HTMLParser):
    """Tags with their attributes, texts, rows of tables and the style of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.rows, self.style = [], "", [], ""
        self._in = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self._in.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self._in.pop() == tag

    def handle_data(self, data):
        if "style" in self._in:
            self.style += data
            return
        self.text += data
        if "td" in self._in or "th" in self._in:
            self.rows[-1][-1] += data

    @property
    def named(self):
        """Rows of all tables by their first cell."""
        return {row[0]: row[1:] for row in self.rows}


def page_of(found, outcome=None):
    outcome = package.outcome_of(found) if outcome is None else outcome
    return report(found, outcome, found.verdict(found.chosen_mechanism), "0" * 16, FILES, bundle.software())


PAGE = page_of(SUBSET)


def test_the_page_fetches_nothing_and_runs_nothing():
    read = Read(PAGE)
    assert not {tag for tag, _ in read.tags} & {"script", "img", "link", "iframe", "object", "embed", "base", "use"}
    for tag, attributes in read.tags:
        assert not {"src", "srcset", "style", "xlink:href"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert tag == "a" or "href" not in attributes
    assert [attributes["href"] for tag, attributes in read.tags if tag == "a"] == [NIST]
    assert not re.search(r"url\(|@import|http", read.style)


def test_the_numbers_are_those_of_the_core():
    found, named = SUBSET, Read(PAGE).named
    audit, (line,) = found.chosen_mechanism.audit(), found.lines(found.chosen_mechanism).to_dict("records")
    assert named["epsilon of one report"][0] == "1.0"
    assert named["e^epsilon"][0] == designs.factor_in_words(1.0)
    assert named["audited epsilon"][0] == designs.audited_in_words(1.0, audit)
    assert named["people expected"][0] == f"{USERS:,}"
    exact = np.sqrt(
        np.max([found.chosen_mechanism.query_variances(found.workload, np.eye(16)[u]) for u in range(16)]) / USERS
    )
    assert line["standard_error"] == pytest.approx(100 * exact)
    assert line["in_words"] in Read(PAGE).text
    assert f"±\N{NO-BREAK SPACE}{wording.significant(100 * exact)} points" in line["in_words"]
    assert named["target"][0] == f"±\N{NO-BREAK SPACE}{verdicts.in_unit(2.0, 'points')}"
    assert SUBSET.verdict(SUBSET.chosen_mechanism) in Read(PAGE).text
    assert verdicts.RULE in Read(PAGE).text
    worst = analysis.sample_complexity(found.chosen_mechanism, found.workload, alpha=0.0004)
    assert named["people needed, worst case"][0] == wording.users(worst)
    assert wording.at_least(max(found.bounds("worst_case").values())) in named["people needed, worst case"][1]
    assert named["device.json"] == ["ab" * 32]
    text = Read(PAGE).text
    assert designs.guarantee(found.configuration, audit) in text
    assert beliefs.belief_in_words(0.5, 1.0) in text
    for name, version in bundle.software().items():
        assert f"{name} {version}" in text


def test_the_errors_drawn_are_those_of_the_case_that_is_said():
    """The worst types', one by one: this mechanism is chosen for no people."""
    made = SUBSET.chosen_mechanism
    exact = np.sqrt(
        np.max([np.maximum(made.query_variances(SUBSET.workload, np.eye(16)[u]), 0) for u in range(16)], axis=0) / USERS
    )
    errors = np.where(exact > 1e-7, exact, 0)
    assert f"The error of each answer with {USERS:,} people, whatever people answer." in Read(PAGE).text
    drawn = re.findall(r'<circle class="dot" r="4".*?</text>|<circle [^>]*r="4".*?</text>', PAGE, re.DOTALL)
    assert [re.search(r">([^<>]*)</text>", one)[1] for one in drawn] == [wording.significant(100 * e) for e in errors]


def test_names_from_data_are_shown_as_they_are_and_never_markup():
    found = ages(attribute=NASTY)
    page = page_of(found)
    assert "<script" not in page
    assert "<b>" not in page
    assert "<script>alert(1)</script> & <b>" in Read(page).text
    assert "script" not in {tag for tag, _ in Read(page).tags}


def test_the_report_in_the_kit_is_about_the_files_beside_it():
    parts = members(package.kit(SUBSET))
    read = Read(parts["report.html"].decode())
    recorded = json.loads(parts["outcome.json"])["kit"]
    for name, digest in recorded.items():
        assert name == "report.html" or read.named[name] == [digest]


def test_names_cannot_reverse_a_promise():
    """A column whose name turns the direction of writing, in the report and in README.md."""
    files = members(kit_of(ages(epsilon="12", attribute="age\u202e")))
    for name in ("report.html", "README.md"):
        written = files[name].decode()
        assert "\u202e" not in written
        assert "age\\u202e" in written
    files = members(kit_of(ages(attribute="\u05d2\u05d9\u05dc")))
    for name in ("report.html", "README.md"):
        written = files[name].decode()
        assert written.count("\u05d2\u05d9\u05dc") == written.count("\u2068\u05d2\u05d9\u05dc\u2069") > 0
