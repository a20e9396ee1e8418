"""The average of a number column from page to page: asked on Workload, and told in the unit of the column everywhere else."""

import numpy as np

from ldp_core.deploy import collector


def salaries(app, kind="mean"):
    """9,000 people with numbers from 0 to 80 in 8 bins, whose average is asked for."""
    return app.declare(high="80", bins=8, users=9000).go("workload").change_kind(kind)


def designed(app):
    """Its answers on the Design page."""
    app.go("design").enter("selectbox", "mechanism", "subset_selection")
    return app.open("design-tabs", "Answers").finish()


def test_an_average_is_asked_for_and_its_error_is_in_the_unit_of_the_column(app):
    salaries(app)
    assert [(part.kind, part.attribute) for part in app.parts] == [("mean", "x")]
    assert "may be off by up to 5, half of the widest bin" in app.words
    assert "One query: **average of x**. It counts each of 8 types by its value" in app.words
    assert not app.errors
    setting = app.session.setting
    assert setting.target == 0.02
    designed(app)
    chosen = app.session.setting.mechanism(app.session.chosen)
    (error,) = setting.answer_errors(chosen)
    assert f"the answer is off by ± {80 * setting.error(chosen):.3g} in x" in app.words
    assert "Bins may add up to 5 to that" in app.words
    (table,) = [frame for frame in app.dataframes if "± in its unit" in frame]
    assert list(table["± in its unit"]) == [setting.workload.unit(0).error_in_words(error, 9000)]
    assert "± percentage points" not in table
    assert np.isclose(float(table["± in its unit"][0].split()[1]), 80 * error, rtol=0.01)


def test_a_total_beside_counts_keeps_both_units(app):
    designed(salaries(app, "total").add("histogram"))
    (table,) = [frame for frame in app.dataframes if "± in its unit" in frame]
    of_total = table["Question"] == "total of x"
    assert of_total.sum() == 1
    assert (table["± in its unit"] != "").equals(of_total)
    assert table["± percentage points"].isna().equals(of_total)


def test_collected_answers_are_told_in_the_unit_of_the_column(app):
    designed(salaries(app)).go("collect")
    app.enter("segmented_control", "collect-from", "simulated").press("count").finish()
    held = [app.session.results.get(key) for key in list(app.session.results._items) if key.startswith("collection:")]
    setting = app.session.setting
    mechanism = app.session.setting.mechanism(app.session.chosen)
    told = collector.in_units(collector.answers(held[0], mechanism, setting.workload), setting.workload, 9000)
    assert abs(told["answer"][0] - 40) < 6 * told["standard_error"][0]
    (table,) = [table.value for table in app.at.table if "Unit" in table.value]
    assert table["Unit"].tolist() == ["x"]
    assert np.isclose(float(table["Answer"].iloc[0].replace("\\", "")), told["answer"][0], rtol=1e-4)
    assert "Answer (people)" not in app.words
    (figure,) = app.charts
    assert "average of x as a share of the range from 0 to 80" in str(figure)


def test_errors_are_in_the_unit_of_the_column_on_every_page(app):
    salaries(app)
    app.go("design").enter("text_input", "target", "4")
    assert app.session.setting.target == 0.05
    app.enter("text_input", "target", "2 %")
    assert np.isclose(app.session.setting.target, 0.02)
    designed(app)
    seen = [app.go("bounds").finish().words, str(app.charts)]
    app.go("compare").finish()
    told = next(table for table in app.dataframes if "standard_error_worst_case" in table).set_index("name")
    setting = app.session.setting
    exact = setting.summary(setting.chosen_mechanism).standard_error_worst_case
    assert np.isclose(told.loc[setting.titled(setting.chosen), "standard_error_worst_case"], 80 * exact)
    app.open("compare-tabs", "Error of each query").finish()
    seen += [app.words, str([table.to_dict() for table in app.dataframes]), app.solve_for("users").words]
    for text in seen:
        assert "percentage points" not in text.replace("percentage points, or in the unit", "")
    assert "in x" in seen[1]
    assert "in x" in seen[3]
    app.go("simulate").press("run").finish()
    assert [frame for frame in app.dataframes if "Typical query (x)" in frame]
    assert "typical error (x)" in str(app.charts)
