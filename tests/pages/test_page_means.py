"""The average of a number column from page to page: asked on Workload, and told in the unit of the column everywhere else."""

import re

import numpy as np
import pytest

from ldp_core import analysis, verdicts, wording, workloads
from ldp_core.data.tables import CategoricalRecipe, NumericRecipe
from ldp_core.designs import WorkloadRecipe


def salaries(app, kind="mean"):
    """9,000 people with numbers from 0 to 80 in 8 bins, whose average is asked for."""
    return app.declare(high="80", bins=8, users=9000).go("workload").change_kind(kind)


def designed(app):
    """Its answers on the Design page."""
    app.go("design").enter("selectbox", "mechanism", "subset_selection")
    return app.open("design-tabs", "Questions").finish()


def in_words(number):
    return verdicts.in_unit(number, "x").replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.promise
def test_an_average_is_asked_for_and_its_error_is_in_the_unit_of_the_column(app):
    salaries(app)
    assert [(part.kind, part.attribute) for part in app.parts] == [("mean", "x")]
    assert "may be off by up to 5, half of the widest bin" in app.words
    assert "One answer: **average of x**. It counts each of 8 types by its value" in app.words
    assert not app.errors
    setting = app.session.setting
    spread = np.std(np.arange(5, 80, 10))
    assert setting.settled.targets == {"x": float(f"{spread / 10:.2g}")}
    designed(app)
    middles = workloads.custom((np.arange(5.0, 80, 10) - 40)[None])
    error = (analysis.worst_case_variance(app.session.setting.chosen_mechanism, middles) / 9000) ** 0.5
    assert f"the average of x is off by ± {in_words(error)}. The only answer is noise." in app.words  # bins may add 5
    table, *_ = app.dataframes  # then that of the questions
    assert wording_of(table, "Error") == [f"± {in_words(error)}; bins add up to 5"]
    app.enter("text_input", "target-x", "8").finish()
    assert "The only answer is usable." in app.words


def wording_of(table, column):
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in table[column]]


def test_a_total_beside_counts_keeps_both_units(app):
    designed(salaries(app, "total").add("histogram"))
    table, *_ = [frame for frame in app.dataframes if "Error" in frame]
    of_total = table["Question"] == "total of x"
    assert of_total.sum() == 1
    assert table["Error"].str.contains("in total x; bins").equals(of_total)
    assert table["Error"].str.endswith("percentage points").equals(~of_total)


def test_collected_answers_are_told_in_the_unit_of_the_column(app):
    designed(salaries(app)).go("collect")
    app.enter("segmented_control", "collect-from", "simulated").press("count").finish()
    table, *_ = [table for table in app.dataframes if "Unit" in table]  # then the counts behind
    assert table["Unit"].tolist() == ["in x"]
    low, answer, high, error = (float(table[column].iloc[0]) for column in ("Low", "Answer", "High", "±"))
    assert abs(answer - 40) < 6 * error
    assert 5 < answer - low < 5 + 2.5 * error  # middles of bins may be off by 5
    assert 5 < high - answer < 5 + 2.5 * error
    assert "Answer (people)" not in app.words


def test_errors_are_in_the_unit_of_the_column_on_every_page(app):
    salaries(app)
    app.go("design").enter("text_input", "target-x", "4")
    assert app.session.setting.settled.targets == {"x": 4.0}
    designed(app)
    setting = app.session.setting
    error = in_words(4 * setting.error(setting.chosen_mechanism))
    assert f"{error}, worked out exactly" in app.go("bounds").finish().words
    seen = [app.words, str(app.charts)]
    app.go("compare").finish().open("compare-tabs", "Error of each answer").finish()
    seen += [app.words, str([table.to_dict() for table in app.dataframes])]
    seen += [app.solve_for("people").words, app.solve_for("target").words]
    assert f"{wording.needed(setting.users_needed(setting.chosen_mechanism, setting.case))} people meet" in seen[4]
    said = float(re.findall(r"± ([0-9.]+) in x is reached", seen[5])[0])
    assert np.isclose(said, 4 * setting.error(setting.chosen_mechanism), rtol=0.01)
    app.go("simulate").press("run").finish()
    seen += [app.words, app.open("outcome-tabs", "Errors").words, str(app.charts)]
    for text in seen:
        assert "percentage points" not in text


def test_true_is_the_average_of_the_column_and_finer_bins_are_offered(app):
    """Ages from 18 to 89 that end in 7: middles of 8 bins of nine years say something else."""
    ages = np.arange(1_800) % 7 * 10 + 27
    table = "age,sex\n" + "\n".join(f"{age},{'fm'[k % 2]}" for k, age in enumerate(ages)) + "\n"
    app.upload("ages.csv", table.encode())
    state = app.session
    recipes = (
        NumericRecipe(column="age", method="range", low=18.0, high=89.0, bins=8, integer=True),
        CategoricalRecipe(column="sex"),
    )
    state.set_data(state.choice.model_copy(update={"recipes": recipes}), state.source)
    parts = (workloads.MeanPart(attribute="age"), workloads.MeanPart(attribute="age", by=("sex",)))
    state.change(workload=WorkloadRecipe(parts=parts))
    state.change(planning="people")
    asked = app.go("workload").session.setting.answers
    assert asked.lines[0].values(state.setting.counts, np.array([0])) == pytest.approx([ages.mean()])
    assert asked.lines[1].values(None, np.arange(2)) == pytest.approx([57, 57])  # two digits; middles say 58
    assert "Bins of age may move an answer by 4; its target is 1.8" in app.words
    assert asked.coarse == ["Average of age", "Average of age, within each sex"]
    app.go("design").enter("selectbox", "mechanism", "subset_selection").finish()
    assert "ins alone may move Average of age" in app.words
    assert "until every question meets its target" not in app.words
    app.go("workload").click("Use 72 bins")
    assert "Bins of age may move" not in app.words
    assert app.session.setting.answers.coarse == []
    assert max(line.bins for line in app.session.setting.answers.lines) == 0
