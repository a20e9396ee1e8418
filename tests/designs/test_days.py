"""One report of a course beside the usual ways to ask about several days: known figures, and simulated people."""

import numpy as np
import pytest

from ldp_core import mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, CourseAttribute, Domain
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.days import compared, usual
from ldp_core.designs.standalone import ready
from ldp_core.workloads import DaysPart, HistogramPart


def asked(*parts, days=8, **more):
    course = CourseAttribute(of=CategoricalAttribute(name="used", values=("no", "yes")), days=days, changes=1)
    return Configuration(
        domain=Domain(attributes=(course,)),
        population=Population(users=1000, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=parts or (DaysPart(attribute="used"),)),
        epsilon="1",
        mechanism=MechanismRecipe(name="optimized"),
        optimizer=Optimizer(max_rounds=40, time_limit=None, **more),
    )


@pytest.mark.parametrize("aim", ["average", "worst_case"])
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_eight_days_of_one_change_at_epsilon_1(aim, weight):
    setting = ready(asked(DaysPart(attribute="used", weight=weight), aim=aim))
    told = compared(setting, setting.build("optimized"))
    if aim == "average":
        assert told["noise"].round(1).tolist() == [5.9, 9.1, 63.9]
        assert told["people"].round(1).tolist() == [1.0, 1.5, 10.8]
    assert told["noise"].tolist()[1:] == pytest.approx([9.116, 63.917], abs=0.001)
    assert 5.8 < told["noise"][0] < 6.5
    assert told["way"][2] == "Every day anew, at epsilon 0.125"


@pytest.mark.parametrize(("values", "days", "epsilon"), [(2, 7, 1.0), (3, 4, 2.0)])
def test_the_usual_ways_are_those_of_simulated_people(values, days, epsilon):
    """The same people many times: the spread of the counts of one day."""
    people, rng = 400, np.random.default_rng(0)
    own = np.repeat(np.arange(values), people // values + 1)[:people]
    asked = workloads.custom(np.eye(values)[-1:] if values == 2 else np.eye(values))
    found = []
    for which, one in enumerate((epsilon, epsilon / days)):
        made = mechanisms.create("subset_selection", n=values, epsilon=one)
        counts = []
        for _ in range(4000):
            here = own if which else own[rng.random(people) < 1 / days]
            answers = made.estimate(made.simulate(np.bincount(here, minlength=values), rng)).answers(asked)
            counts.append(answers if which else days * (answers - len(here) / values) + people / values)
        found.append(np.var(counts, axis=0).sum() / people)
    assert found == pytest.approx(usual(values, days, epsilon), rel=0.08)  # two standard errors are 4.5 %


def test_other_questions_have_no_such_table():
    more = ready(asked(DaysPart(attribute="used"), HistogramPart(attribute="used"), days=3))
    assert compared(more, more.build("randomized_response")) is None
