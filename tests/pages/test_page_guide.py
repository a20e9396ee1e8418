"""The numbers of the worked example of the Guide are those that the core comes to."""

import math

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.shuffled import promised


@pytest.fixture(scope="module")
def lines():
    """{(who knows the version, epsilon): the line of the question, and the people needed}"""
    people, found = np.array([1200, 800, 1100, 900]), {}
    of = ldp.workloads.PredicatesPart(predicates=(ldp.workloads.Predicate(expression="satisfied = yes"),))
    part = ldp.workloads.DifferencePart(attribute="version", first="new", second="old", of=of)
    for known, epsilon, name in ((True, 0.5, "r"), (True, 1, "r"), (True, 2, "r"), (False, 1, "o")):
        attributes = [("version", ("old", "new"), known), ("satisfied", ("no", "yes"), False)]
        domain = Domain(
            attributes=tuple(
                CategoricalAttribute(name=n, values=v, known=k, origin="declared") for n, v, k in attributes
            )
        )
        workload = ldp.workloads.over_attributes([part], domain, counts=people)
        fit = {"max_rounds": 200} if name == "o" else {}
        mechanism = ldp.mechanisms.create(
            "optimized" if fit else "randomized_response", workload=workload, epsilon=epsilon, **fit
        )
        line = ldp.analysis.question_lines(mechanism, workload, people).iloc[0]
        found[known, epsilon] = line, ldp.analysis.people_needed(mechanism, workload, people)
    return found


def test_the_worked_example_has_the_numbers_of_the_core(app, lines):
    said = " ".join(app.go("guide").words.split())
    line, needed = lines[True, 1]
    assert line["value"] == pytest.approx(5)
    assert f"off by ± {line['standard_error']:.2f} points" in said
    assert f"a difference of {line['finds']:.1f} points or more is found" in said
    assert (
        f"it takes {round(needed, -2):,.0f} people; at epsilon 2 it takes {round(lines[True, 2][1], -1):,.0f}" in said
    )
    assert f"at epsilon 0.5 it takes {round(lines[True, 0.5][1], -2):,.0f}" in said
    line, needed = lines[False, 1]
    assert (
        f"the error would be ± {line['standard_error']:.2f} points, and it would take {round(needed, -2):,.0f} people"
        in said
    )
    assert f"a chance of {math.e / (1 + math.e):.0%}".replace("%", " %") in said


def test_the_mixture_of_the_worked_example_is_what_is_proved(app):
    said = promised(ldp.mechanisms.create("randomized_response", n=2, epsilon=1.0), 2000)
    assert "central epsilon 0.103 at delta 0.000001" in said
    assert "a central epsilon of 0.103 at delta 0.000001" in " ".join(app.go("guide").words.split())
