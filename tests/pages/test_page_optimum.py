"""The exact optimum on Compare and Design: a line and a sentence, against the core, where there is one."""

import numpy as np
import pytest

from ldp_core import analysis, library, mechanisms, optimize, wording, workloads
from ldp_core.designs import Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import PrefixPart

NAMES = {library.spec(name).title: name for name in mechanisms.names()}
MEANING = "Exact optimum: the fewest users that any unbiased mechanism"


@pytest.fixture
def few(app):
    """Eight types, running totals, people who are not spread evenly."""
    app.declare(bins=8).ask("prefix")
    app.session.change(population=Population(users=500, origin="declared", shape="zipf"))
    return app.go("compare").finish()


def lines(app, chart=0):
    """The texts beside the lines of a chart, and where dashed ones are."""
    layout = app.charts[chart]["layout"]
    long = [shape for shape in layout.get("shapes", ()) if shape["line"].get("dash") == "longdash"]
    return [one["text"] for one in layout.get("annotations", ())], long


@pytest.mark.parametrize("case", ["average", "people"])
def test_compare_draws_it_and_says_how_far_the_best_is_from_it(few, case):
    few.enter("selectbox", "case", case).finish()
    workload, design = workloads.prefix(8), few.session.design()
    prior = {"average": None, "people": design.counts / 500}[case]
    best = optimize.exact(workload, 1.0, prior)
    needed = analysis.users_for(best.variance, 8, few.session.setting.alpha)
    texts, (line,) = lines(few)
    assert line["x0"] == pytest.approx(needed, rel=1e-6)
    assert f"exact optimum {wording.needed(needed)}" in texts
    assert few.session.setting.bounds(case)["certificate"] <= line["x0"] * (1 + 1e-9)
    table = next(table for table in few.dataframes if "users_needed" in table)
    assert needed < table["users_needed"].min()
    title = table["name"].iloc[0]
    assert f"The **exact optimum** is {wording.users(needed)}; {title} needs " in few.words
    profile = mechanisms.create(NAMES[title], n=8, epsilon=1.0).variance_profile(workload)
    exactly = analysis.users_for(
        float((np.full(8, 1 / 8) if prior is None else prior) @ profile), 8, few.session.setting.alpha
    )
    said = wording.gap(exactly / needed - 1).replace("\N{NO-BREAK SPACE}", " ")
    assert f"{title} needs {said} more." in few.words
    assert MEANING in few.words


def test_the_worst_case_has_none_but_where_all_types_are_alike(few):
    assert not lines(few)[1]
    assert MEANING not in few.words
    assert "not for the worst case" in few.words
    few.ask("histogram").finish()
    _, (line,) = lines(few)
    best = mechanisms.create("subset_selection", n=8, epsilon=1.0)  # the optimum, by Ye and Barg
    assert line["x0"] == pytest.approx(
        analysis.sample_complexity(best, workloads.histogram(8), few.session.setting.alpha), rel=1e-6
    )
    assert "Subset selection attains it to within 0.01 %." in few.words


def test_ten_types_are_the_most(app):
    app.declare(bins=10).ask("histogram").go("compare").finish()
    assert lines(app)[1]
    app.go("data").enter("number_input", "declare-bins", 11).go("compare").finish()
    assert app.session.design().domain.size == 11
    assert not lines(app)[1]
    assert "xact optimum is" not in app.words
    assert MEANING not in app.words


def test_design_shows_it_where_the_gap_closes(few):
    few.session.change(optimizer=Optimizer(max_rounds=40, aim="average"))
    few.go("design").finish()
    few.press("optimise").finish()
    session = few.session
    needed = session.setting.users_needed(session.mechanism("optimized"), "average")
    least = analysis.users_for(optimize.exact(workloads.prefix(8), 1.0).variance, 8, few.session.setting.alpha)
    assert session.setting.bounds("average")["certificate"] <= least * (1 + 1e-9) <= needed * (1 + 2e-9)
    assert f"The exact optimum is {wording.users(least)}; this mechanism " in few.words
    texts, (line,) = next(found for chart in range(len(few.charts)) if (found := lines(few, chart))[1])
    assert line["y0"] == pytest.approx(least, rel=1e-6)
    assert f"exact optimum: {wording.needed(least)} users" in texts
    costs = next(table for table in few.dataframes if "Exact optimum" in table).set_index("Optimise for")
    assert costs["Exact optimum"]["Worst case"] == "–"
    assert costs["Exact optimum"]["Average over the types"] == wording.needed(least)
    assert costs["Gap to it"]["Worst case"] == "–"
    assert MEANING in few.words


def test_nothing_is_said_of_it_for_more_than_pure_epsilon(few):
    few.enter("selectbox", "case", "average").enter("multiselect", "compared", ["gaussian"]).finish()
    assert "The **exact optimum** is " in few.words
    assert "Gaussian noise needs" not in few.words
    few.go("design").enter("selectbox", "mechanism", "gaussian").finish()
    assert "xact optimum is" not in few.words


def test_an_optimum_that_cannot_be_found_is_said(few, monkeypatch):
    def failing(*_):
        raise ValueError("The solver found no optimum for this workload and epsilon; use the certified design.")

    monkeypatch.setattr(optimize, "exact", failing)
    few.go("design").enter("text_input", "epsilon-text", "2").go("compare").enter(
        "selectbox", "case", "average"
    ).finish()
    assert "The exact optimum is not known here. The solver found no optimum" in few.words
    assert not lines(few)[1]


def test_few_distinguished_types_of_many_are_optimised_without_a_press(app, unasked):
    app.declare_table(16, 16).session.change(workload=WorkloadRecipe(parts=(PrefixPart(attribute="x"),)))
    app.go("design").finish()
    assert app.session.design().domain.size == 256
    assert app.session.setting.fitted("optimized") is not None
    assert "answers are usable" in app.words
