"""The report of a design for a privacy review: one HTML page that fetches nothing, readable in light and dark and on paper.

Its headings follow NIST Special Publication 800-226, "Guidelines for Evaluating Differential Privacy Guarantees" (2025). Numbers
are those of the outcome and of the mechanism, each with its unit. Errors are for the people of its
outcome; of the data the report tells the verdict alone, unless figures of the data were asked for.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ldp_core import analysis, library, verdicts, wording
from ldp_core.deploy.kit import pictures, review
from ldp_core.deploy.kit.markup import Node, element, listed, page, table
from ldp_core.designs import Setting, guarantee
from ldp_core.designs.disclosure import PEOPLE

NIST = "https://doi.org/10.6028/NIST.SP.800-226"
SHOWN_QUERIES = 24
_STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")


def report(
    shown: Setting,
    outcome: Mapping[str, Any],
    verdict: str,
    design: str,
    files: Mapping[str, str],
    software: Mapping[str, str],
    mixing: str = "",
) -> str:
    """The page. ``shown`` is the design with the people that errors are for, ``outcome`` as `designs.export` takes it, ``verdict``
    what Design says of its own people, ``design`` the id of the device, ``files`` the SHA-256 of each file beside it, ``software`` the versions that made it,
    ``mixing`` what mixing the reports gives, where somebody asked for it. ValueError where nothing can be promised."""
    c, mechanism = shown.configuration, shown.chosen_mechanism
    audit = mechanism.audit()
    questions = "" if c.workload is None else f", for {c.workload.summary}"
    versions = ", ".join(f"{name} {version}" for name, version in software.items())
    return page(
        f"Privacy report {design}",
        _STYLE,
        element("h1", "Privacy report of a data collection"),
        element(
            "p",
            f"{library.titled(c.mechanism.name, mechanism)}, epsilon {c.epsilon}{questions}. Design {design}.",
            class_="faint",
        ),
        element(
            "p",
            "The headings follow NIST SP 800-226, ",
            element("a", "Guidelines for Evaluating Differential Privacy Guarantees", href=NIST),
            " (2025). Everything here was worked out by the program that made the design; a person has to judge it.",
            class_="faint",
        ),
        element("p", guarantee(c, audit), class_="promise"),
        *_section("1. The privacy guarantee", review.promise(c, audit)),
        *_section("2. The unit of privacy", review.unit(c, audit)),
        *_section("3. The privacy parameters", review.parameter_table(c, audit), review.parameters(c, audit)),
        *_section("4. The trust model", (*review.TRUST, mixing) if mixing else review.TRUST),
        *_section("5. The algorithm, and how it was audited", review.algorithm(c, outcome, mechanism)),
        *_section("6. Utility", *_utility(shown, outcome, verdict)),
        *_section("7. Bias", review.BIAS),
        *_section("8. Hazards of an implementation", review.hazards(c)),
        *_section("9. Security and access control", review.ACCESS),
        *_section("10. Exposure when data is collected", review.EXPOSURE),
        *_section("11. Information about data in the files", review.revealed(c, outcome)),
        *_section("12. Limits of the promise", review.NOT_COVERED),
        *_section(
            "13. Files and software",
            element("p", f"Made with {versions}. README.md says how to run what is here."),
            table(["file", "SHA-256"], [[name, element("code", digest)] for name, digest in files.items()]),
        ),
    )


def _section(title: str, *content: ET.Element | tuple[str, ...]) -> list[ET.Element]:
    return [element("h2", title), *(listed(item) if isinstance(item, tuple) else item for item in content)]


def _utility(shown: Setting, outcome: Mapping[str, Any], verdict: str) -> list[ET.Element]:
    lines, users = outcome.get("questions"), shown.users
    answers = sum(line.workload.num_queries for line in shown.answers.lines)
    rows: list[list[Node]] = [
        ["people expected", f"{users:,}", "people, one by one"],
        [
            "answers",
            f"{answers:,}",
            f"to {wording.plural(len(shown.answers.lines), 'question')}, from the same reports",
        ],
    ]
    if not isinstance(lines, list):
        missing = str(outcome.get("errors_missing") or "The errors to expect were not worked out.")
        return [_utility_table(rows), element("p", missing)]
    rows.append(["target", shown.targets_in_words, "a standard error, or a difference that is to be found"])
    needed, proved = outcome.get("users_needed") or {}, outcome.get("users_no_mechanism_can_do_without") or {}
    limits = {case: max((proved.get(case) or {}).values(), default=0.0) for case in needed}
    for case, people in needed.items():
        least = f"no unbiased mechanism needs fewer than {wording.at_least(limits[case])}"
        about = least if limits[case] > 0 else "no bound is known"
        rows.append([f"people needed, {review.case_title(case)}", wording.users(people), about])
    elements: list[ET.Element] = [
        element("p", verdict),
        listed([str(line["in_words"]) for line in lines]),
        _utility_table(rows),
        element("p", "A standard error is the size by which an answer is typically off. Two in three answers are closer to the truth, and "
                "about one in twenty is off by more than twice as much. With the people needed every question meets its target."),
        element("p", verdicts.RULE),
    ]  # fmt: skip
    worst = analysis.WORST_CASE.name
    if needed.get(worst, 0) > 0:
        said = shown.error_in_words(math.sqrt(needed[worst] / users))
        sentence = f"In the worst case the error is {said} with {users:,} people; four times as many people halve it."
        drawn = pictures.error_by_users(needed[worst], limits[worst] or None, users, sentence, shown.scale)
        elements.append(_figure(drawn, sentence))
    return elements + _answers(shown, str(outcome.get("errors_refer_to")))


def _utility_table(rows: list[list[Node]]) -> ET.Element:
    return table(["quantity", "value", "unit and meaning"], rows)


def _answers(shown: Setting, on: str) -> list[ET.Element]:
    """The errors of single answers ``on`` the people that errors are for, unless they take too long."""
    if analysis.too_many_types(shown.workload):
        return []
    answers = shown.answered(shown.chosen_mechanism).dropna(subset=["standard_error"])
    if answers.empty:
        return []
    places = np.unique(np.linspace(0, len(answers) - 1, min(SHOWN_QUERIES, len(answers))).astype(int))
    chosen = answers.iloc[places]
    reached = chosen["finds"].fillna(chosen["standard_error"]) / chosen["target"]
    some = "" if len(places) == len(answers) else f" {len(places)} answers are drawn, evenly spread."
    whose = f"on {on}" if shown.case == PEOPLE else on
    sentence = f"The error of each answer with {shown.users:,} people, {whose}.{some}"
    drawn = pictures.errors_by_query(chosen["name"].tolist(), reached.tolist(), sentence, shown.scale)
    return [_figure(drawn, sentence)]


def _figure(drawn: ET.Element, sentence: str) -> ET.Element:
    return element("figure", drawn, element("figcaption", sentence))
