"""The pages after the questions, for surveys: nothing is asked of the joint domain, and every number is the core's."""

import re

import numpy as np
import pytest

from ldp_core import analysis, bounds, errors, library, wording
from ldp_core.data import tables
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.workloads import KWayMarginalsPart
from pages.ui.session import exchange

PAGES = (
    *("start", "data", "workload", "design", "compare", "bounds"),
    *("simulate", "export", "collect", "guide"),
)
ALIKE = "What is optimised for makes no difference here"
LIVES = "working_lives.csv"
PAIRS = (KWayMarginalsPart(k=2),)


def declared(sizes, parts=PAIRS, mechanism="sampled_sets", users=10_000):
    recipes = [
        tables.CategoricalRecipe(column=f"question {i}", categories=tuple(f"answer {j}" for j in range(size)))
        if size < 30
        else tables.NumericRecipe(column=f"number {i}", method="range", low=0, high=size, bins=size, integer=False)
        for i, size in enumerate(sizes)
    ]
    return Configuration(
        data=DeclaredData(recipes=recipes),
        domain=tables.build_domain(recipes),
        population=Population(users=users, origin="declared", shape="zipf"),
        workload=WorkloadRecipe(parts=tuple(parts)),
        mechanism=MechanismRecipe(name=mechanism),
    )


def load(app, *about, **more):
    return app.load(declared(*about, **more).model_dump(mode="json"))


@pytest.fixture
def lives(app):
    app.sample(LIVES)
    app.session.change(mechanism=MechanismRecipe(name="sampled_sets"))
    return app


def test_every_page_opens_for_a_survey(app):
    load(app, [2 + i % 19 for i in range(20)], mechanism="optimized")
    for page in PAGES:
        app.go(page)
        said = app.words
        assert str(app.session.setting.domain.size) not in said.replace(",", ""), page
        assert "e+3" not in said, page


def test_users_needed_and_the_bound_are_those_of_the_core(lives):
    lives.go("design").open("design-tabs", "Patterns and proof")
    workload, alpha = lives.workload, lives.session.setting.alpha
    mechanism = library.create("sampled_sets", epsilon=1.0, workload=workload)
    needed = analysis.sample_complexity(mechanism, workload, alpha)
    bound = analysis.users_from_objective(bounds.centred_svd(workload, 1.0), workload, alpha)
    assert lives.metric("People needed") == wording.needed(needed)
    read = lambda text: int(text.replace(",", ""))  # noqa: E731
    assert read(re.findall(r"fewer than ([0-9,]+)", lives.words)[0]) >= read(wording.minimum(bound))
    assert "Each person draws one of 55 sets of columns" in lives.words
    assert "of the information in the reports would have to be about other columns" in lives.words
    assert lives.words.count(ALIKE) == 1
    lives.go("export")
    assert lives.has("download_button", "download-queries")


def test_what_a_survey_cannot_have_is_said_in_a_sentence(lives):
    lives.go("simulate").enter("segmented_control", "simulate", "ask")
    assert "Questions one by one are for at most 65,536 types here; there are 1.45 × 10⁹." in lives.words
    lives.enter("segmented_control", "simulate", "collections").enter("number_input", "trials", 2).press("run").finish()
    lives.open("outcome-tabs", "Errors")
    assert "400 of 3,794 answers are shown." in lives.words
    mechanism = lives.session.setting.mechanism("sampled_sets")
    variances = errors.variances_of(mechanism, lives.workload, lives.session.setting.counts, np.arange(3794))
    predicted = float(lives.words.split("percentage points was predicted")[0].split()[-1])
    assert predicted == pytest.approx(100 * variances.max() ** 0.5 / 10_000, rel=0.05)  # of the answers shown


def test_an_optimised_survey_is_near_the_bound_and_comes_back_as_loaded(app, another):
    load(app, [13, 14, 15], mechanism="optimized").go("design").finish().open("design-tabs", "Patterns and proof")
    said, state = app.words, app.session
    mechanism, workload = state.setting.mechanism("optimized"), app.workload
    needed = analysis.sample_complexity(mechanism, workload, state.setting.alpha)
    assert app.metric("People needed") == wording.needed(needed)
    assert needed <= 1.01 * analysis.users_from_objective(
        bounds.centred_svd(workload, 1.0), workload, state.setting.alpha
    )
    assert said.count(ALIKE) == 1
    assert mechanism.explain().replace("\N{NO-BREAK SPACE}", " ") in said
    other = another().load(exchange.export(state)).go("design")
    assert other.metric("People needed") == app.go("design").metric("People needed")
    assert "This strategy was loaded from a file, not computed here" in other.words
    app.session.change(compared=("sampled_sets", "optimized"))
    app.go("compare").open("compare-tabs", "Over epsilon").press("sweep-epsilon").finish()
    assert "Fewest people: Optimised at epsilon 0.25, 0.5, 0.75, 1," in app.words
