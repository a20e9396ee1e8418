"""The comparison: its table against the core, target errors, the three pictures, and the sweep over epsilon."""

import numpy as np
import pytest

from ldp_core import analysis, beliefs, charts, library, mechanisms, wording, workloads
from ldp_core.designs.configuration import Optimizer
from ldp_core.papers import league
from pages.ui import say

CLOSED = ["randomized_response", "subset_selection", "hadamard", "hierarchical"]
TITLES = {library.spec(name).title: name for name in mechanisms.names()}


@pytest.fixture
def compared(ages):
    return ages.go("compare")


@pytest.mark.promise
def test_table_agrees_with_the_core_and_the_chart(compared):
    table, workload = compared.costs, workloads.prefix(25)
    assert {TITLES[title] for title in table.index} == set(CLOSED)
    chart, layout = compared.charts[0]["data"][0], compared.charts[0]["layout"]
    rows = dict(
        zip(
            layout["yaxis"]["tickvals"],
            [title.replace("<br>", " ") for title in layout["yaxis"]["ticktext"]],
            strict=True,
        )
    )
    marks = {words["y"]: words["text"] for words in layout["annotations"] if words.get("xshift") == 12}
    shown = {title: marks[row] for row, title in rows.items()}  # the number stands in the row of its name
    assert list(rows.values()) == chart["text"]
    for title, row in table.iterrows():
        mechanism = mechanisms.create(TITLES[title], epsilon=1.0, workload=workload)
        assert np.ceil(row["users_needed"]) == np.ceil(
            analysis.sample_complexity(mechanism, workload, compared.session.setting.alpha)
        )
        assert shown[title] == wording.needed(row["users_needed"])  # the picture and the table say the same number
    assert table["users_needed"].is_monotonic_increasing


def test_tabs_show_users_errors_and_the_way_to_a_sweep(compared):
    assert [tab.label for tab in compared.at.tabs] == [
        "People needed",
        "Error of each answer",
        "Over epsilon",
        "What reports tell",
        "Over domain size",
    ]
    assert len(compared.charts) == 1
    design = compared.session.setting
    mechanism = mechanisms.create(TITLES[compared.costs.index[0]], epsilon=1.0, workload=design.workload)
    assert compared.open("compare-tabs", "Over epsilon").has("button", "sweep-epsilon")
    worst = mechanism.query_contributions(design.workload, np.arange(25)).variances.max(axis=1)  # of the worst type
    hardest = [design.workload.query_name(query) for query in np.flatnonzero(np.isclose(worst, worst.max()))]
    error = f"± {wording.significant(100 * np.sqrt(worst.max() / design.users))} percentage points."
    words = compared.open("compare-tabs", "Error of each answer").words
    assert any(f"the hardest answer is **{name}** with {error}" in words for name in hardest)


def test_sweep_agrees_with_the_table_and_is_kept(app):
    app.declare(bins=8).session.change(optimizer=Optimizer(max_rounds=2))
    app.go("compare").enter("multiselect", "compared", CLOSED)
    table = app.costs
    app.open("compare-tabs", "Over epsilon").finish()
    at_once = {trace.get("name"): trace for trace in app.charts[-1]["data"]}
    for title, row in table.iterrows():
        drawn = dict(zip(at_once[title]["x"], at_once[title]["y"], strict=True))
        assert drawn[1.0] == pytest.approx(row["users_needed"])
    assert "**Optimised is not computed yet.**" in app.words
    app.press("sweep-epsilon").finish()
    assert not app.has("button", "sweep-epsilon")
    assert len(app.charts) == 1
    curves = {trace.get("name"): trace for trace in app.charts[-1]["data"]}
    for title, row in table.iterrows():
        at_one = list(curves[title]["x"]).index(1.0)
        assert curves[title]["y"][at_one] == pytest.approx(row["users_needed"])
        assert list(curves[title]["y"]) == sorted(curves[title]["y"], reverse=True)  # less privacy, fewer users
    assert "Fewest people: " in app.words
    app.go("design").enter("text_input", "epsilon-text", "2").go("compare")
    assert not app.has("button", "sweep-epsilon")  # a sweep does not depend on the epsilon chosen
    app.target(2.5)
    assert app.has("button", "sweep-epsilon")


def test_an_unreachable_cluster_is_a_sentence(app):
    app.declare(bins=8).go("compare").open("compare-tabs", "Over epsilon").enter(
        "text_input", "scheduler-epsilon", "tcp://127.0.0.1:9"
    )
    app.press("sweep-epsilon").finish()
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in app.errors[0]
    assert app.has("button", "sweep-epsilon")
    app.enter("text_input", "scheduler-epsilon", "")
    assert not app.errors, "it was about the address before"


def test_one_click_compares_all_that_run_here(app):
    app.declare(bins=12).ask("prefix").go("compare").press("compare-all")
    runs = [name for name in mechanisms.names() if library.spec(name).unsuitable(12, 1.0, app.workload) is None]
    assert set(app.configuration.compared) >= set(runs)
    assert app.at.button(key="compare-all").disabled
    listed = app.costs["paper_name"]
    assert listed["Projected Hadamard response"] == "Algorithm 5 (Bassily)"


@pytest.mark.promise
def test_the_headline_compares_with_the_best_classical_mechanism(app):
    """Whichever of the two the design has, and where both need the same."""
    app.declare(bins=8).ask("prefix").session.change(mechanism={"name": "randomized_response"})
    app.go("compare").enter("multiselect", "compared", ["randomized_response", "hierarchical", "subset_selection"])
    needed = app.costs["users_needed"]
    best, worst = needed.index[0], needed["Randomized response"]
    times = wording.significant(worst / needed.iloc[0], 2)
    numbers = f"{wording.needed(needed.iloc[0])} against {wording.needed(worst)}."
    headline = f"{best}, the best classical one, needs {times} times fewer people than Randomized response: {numbers}"
    assert headline in app.words
    app.session.change(mechanism={"name": TITLES[best]})
    second = needed.index[1]
    assert f"{best} needs " in app.go("compare").words
    assert f"fewer people than {second}, the best classical one: " in app.words
    app.declare(bins=2).ask("histogram").session.change(mechanism={"name": "randomized_response"})
    words = app.go("compare").enter("multiselect", "compared", ["randomized_response", "subset_selection"]).words
    assert "Randomized response needs as many people as Subset selection, the best classical one: " in words


def test_errors_and_right_guesses_are_those_of_the_core(compared):
    """A mark each at the epsilon of the design and those of the trade-off; a mechanism that is not fitted is said."""
    compared.enter("multiselect", "compared", ["randomized_response", "oue", "optimized"])
    setting = compared.session.setting
    people = setting.counts / setting.users
    compared.open("compare-tabs", "What reports tell").finish()
    traces = {trace["name"]: trace for trace in compared.charts[-1]["data"] if trace.get("name")}
    for name in ("randomized_response", "oue"):
        drawn = traces[charts.title(name)]
        assert list(drawn["customdata"]) == [0.1, 0.25, 0.5, 1.0, 2.0, 5.0]
        for epsilon, guess, error in zip(drawn["customdata"], drawn["x"], drawn["y"], strict=True):
            mechanism = mechanisms.create(name, n=25, epsilon=epsilon)
            needed = analysis.people_needed(mechanism, setting.workload, setting.counts, setting.cases[setting.case])
            assert error == pytest.approx(setting.scale.times * (needed / setting.users) ** 0.5)
            assert guess == pytest.approx(100 * beliefs.exposure(mechanism, people).guess)
    words = compared.words
    assert f"Without a report, the best guess is right for {beliefs.out_of(people.max(), 1000)} people." in words
    assert "too many reports to say: Optimised." in words


def test_the_league_is_shown_as_it_is_stored(app):
    app.declare(bins=8).go("compare").unfold("league-fold")
    (found,) = [table.value for table in app.at.table if "Histogram, 0.5" in table.value]
    assert found.to_numpy().tolist() == league.table(league.read()).map(say.plain).to_numpy().tolist()
    assert league.MEANING in app.words
