"""A configuration outside the app stands for what it stands for in the app: the same people, questions, mechanisms and figures."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.data.tables import NumericRecipe
from ldp_core.designs import (
    Configuration,
    MechanismRecipe,
    NotFitted,
    Optimizer,
    Population,
    SampleData,
    WorkloadRecipe,
    export,
    load,
    ready,
    realise,
)
from ldp_core.designs.results import Results
from ldp_core.workloads import HistogramPart, PrefixPart
from pages.ui.session import exchange
from pages.ui.session.history import History, SavedDesigns
from pages.ui.session.state import Session
from pages.ui.sources import File
from tests.refused import refused

ANSWERS = Domain(attributes=(CategoricalAttribute(name="answer", values=("no", "perhaps", "yes"), origin="declared"),))
AGES = NumericAttribute(name="age", edges=tuple(range(0, 90, 10)), origin="declared")
DECLARED = Configuration(
    domain=Domain(attributes=(AGES,)),
    population=Population(users=5000, origin="declared", shape="zipf"),
    workload=WorkloadRecipe(parts=(PrefixPart(attribute="age"),)),
    mechanism=MechanismRecipe(name="hierarchical", parameters={"branching": 2}),
    compared=("randomized_response", "hierarchical", "hierarchical(branching=4)", "haar", "subset_selection"),
    optimizer=Optimizer(aim="people"),
)
OF_SAMPLE = DECLARED.with_(
    data=SampleData(file="survey_ages.csv", recipes=(NumericRecipe(column="age", low=0, high=100, bins=10),)),
    domain=None,
    population=Population(users=None, origin="data", shape="data"),
)


@pytest.mark.parametrize("known", [False, True])
def test_files_say_what_a_mechanism_chose_itself(known):
    """So that another version with other defaults builds the same one; what depends on epsilon stays open."""
    answers = ANSWERS.attributes[0].model_copy(update={"known": known})
    setting = ready(DECLARED.with_(domain=Domain(attributes=(AGES, answers))))
    written = setting.recorded.mechanism.parameters
    chosen = {"oracle": "subset_selection", "reconstruction": "consistent", "shares": "fitted"}
    assert written == {"branching": 2, **chosen}
    again = replace(setting, configuration=setting.recorded, results=Results())
    assert again.chosen_mechanism.digest == setting.chosen_mechanism.digest
    assert again.recorded == setting.recorded
    for name in ("subset_selection", "optimized"):
        other = setting.configuration.with_(mechanism=MechanismRecipe(name=name))
        assert ready(other).recorded.mechanism.parameters == {}


@pytest.mark.parametrize("aim", ["worst_case", "people", "histogram"])
def test_figures_are_those_of_a_session_with_the_same_configuration(aim):
    """Users needed, gaps, errors, the error aimed at and the settings of fits, of every mechanism compared."""
    optimizer = Optimizer(aim=aim, histogram=(1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0), seed=3, max_rounds=7)
    configuration = DECLARED.with_(optimizer=optimizer)
    session, setting = Session("x", SavedDesigns(History(configuration))), ready(configuration)
    assert setting.side_by_side == session.setting.side_by_side
    assert setting.alpha == session.setting.alpha
    assert list(setting.cases) == list(session.setting.cases)
    built = {name: setting.build(name) for name in setting.side_by_side}
    shown = {name: session.setting.mechanism(name) for name in session.setting.side_by_side}
    assert {name: one.digest for name, one in built.items()} == {name: one.digest for name, one in shown.items()}
    for case in session.setting.cases:
        pd.testing.assert_frame_equal(
            setting.compared(built, case), session.setting.compared(shown, case), rtol=0, atol=0
        )
        assert setting.bounds(case) == session.setting.bounds(case)


def test_rows_of_a_table_and_of_a_sample_are_counted_by_the_recipes():
    rows = File("sample", "survey_ages.csv").read()
    setting = ready(OF_SAMPLE.with_(domain=ready(OF_SAMPLE, rows.table).domain))
    session = Session("x", SavedDesigns(History(setting.configuration, rows)))
    assert setting.on_data
    assert setting.users == len(rows.table) == session.setting.users
    np.testing.assert_array_equal(setting.counts, session.setting.counts)
    half = ready(setting.configuration, rows.table[::2])
    assert half.users == len(rows.table[::2])
    given = ready(DECLARED, pd.DataFrame({"age": [5, 15, 15, 75]}))  # what was declared gives way to what is counted
    assert given.counts.tolist() == [1, 2, 0, 0, 0, 0, 0, 1]
    assert given.configuration.population.origin == "data"


def test_a_fitted_mechanism_comes_from_its_file_or_is_fitted_or_refused():
    configuration = DECLARED.with_(
        mechanism=MechanismRecipe(name="optimized_gradient"), optimizer=Optimizer(seed=2, max_rounds=5)
    )
    made = realise(configuration)
    session = Session("x", SavedDesigns(History(configuration)))
    again = library.create("optimized_gradient", epsilon=1.0, workload=session.setting.workload, seed=2, max_rounds=5)
    assert isinstance(made.chosen_mechanism, mechanisms.ExplicitMechanism)
    assert made.chosen_mechanism.digest == again.digest
    bundle = load(export(made.configuration, {}, made.chosen_mechanism))
    exchange.load(session, export(made.configuration, {}, made.chosen_mechanism))
    loaded = realise(bundle.configuration, bundle, fit=False)
    assert loaded.from_file("optimized_gradient")
    assert np.array_equal(loaded.chosen_mechanism.strategy, made.chosen_mechanism.strategy)
    assert loaded.chosen_mechanism.digest == session.setting.mechanism("optimized_gradient").digest
    refused(
        "lacks the strategy", lambda: realise(configuration, load(configuration.to_json()), fit=False), kind=NotFitted
    )


@pytest.mark.usefixtures("no_hurry")
def test_a_fit_ends_once_it_is_proved_to_be_good_enough():
    """The proof of the case that it is fitted for is what counts; without one it goes on until it has converged."""
    setting = ready(DECLARED.with_(mechanism=MechanismRecipe(name="optimized"), optimizer=Optimizer(aim="average")))
    rounds, proved = [], []
    unproved = setting.fit("optimized", rounds.append).mechanism
    setting.prove("average")
    mechanism = setting.fit("optimized", proved.append).mechanism
    assert setting.build("optimized") is mechanism
    assert len(proved) <= len(rounds)
    assert setting.gap(mechanism, "average") < 0.01
    assert setting.gap(unproved, "average") <= setting.gap(mechanism, "average") + 1e-12
    assert proved[-1].bound is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"domain": None}, "has no domain"),
        ({"workload": None}, "asks no questions"),
        ({"workload": WorkloadRecipe(parts=(HistogramPart(attribute="height"),))}, "height"),
    ],
)
def test_what_cannot_be_realised_is_a_sentence(changes, said):
    refused(said, lambda: ready(DECLARED.with_(**changes)))


def three_columns(region, **changes):
    """Running totals of eight ages, in a domain with two more columns that no question uses."""
    more = [
        NumericAttribute(name=n, edges=tuple(range(s + 1)), origin="declared") for n, s in (("r", region), ("s", 3))
    ]
    return Configuration(
        domain=Domain(attributes=(AGES, *more)),
        workload=WorkloadRecipe(parts=(PrefixPart(attribute="age"),)),
        optimizer=Optimizer(max_rounds=30),
        **changes,
    )


@pytest.mark.usefixtures("no_hurry")
@pytest.mark.parametrize("region", [4, 100])
def test_columns_that_no_question_uses_cost_nothing(region):
    setting, alone = ready(three_columns(region)), workloads.prefix(8)
    size = 8 * region * 3
    assert setting.about_types == f"Your questions distinguish 8 of {size:,} types; reports are about these."
    assert setting.fitted_types == 8
    for name in ("hadamard", "randomized_response"):
        built = setting.build(name)
        needed = analysis.sample_complexity(mechanisms.create(name, 8, 1.0), alone, setting.alpha)
        assert setting.users_needed(built, "worst_case") == pytest.approx(needed)
    made = setting.build("optimized")
    loaded = load(export(setting.configuration, {}, made)).mechanism
    assert loaded.drawn.strategy == pytest.approx(made.drawn.strategy, abs=0)
    assert np.array_equal(loaded.classes, made.classes)
    assert setting.prove("worst_case").certificate.variance <= setting.profiled(made, setting.workload).max() * (
        1 + 1e-9
    )


def test_designs_of_earlier_files_keep_all_types():
    kept = three_columns(4, types="all", mechanism=MechanismRecipe(name="randomized_response"))
    setting = ready(load(export(kept, {})).configuration)
    made = setting.chosen_mechanism
    assert made.digest == mechanisms.create("randomized_response", 96, 1.0).digest
    assert setting.about_types.endswith("reports are about all types.")
    assert ready(kept.with_(types="distinguished")).chosen_mechanism.drawn.n == 8
