"""The whole library in the app: every mechanism is listed with its costs, can be fitted and compared, or says why not."""

import pytest

from ldp_core import library, mechanisms, wording
from ldp_core.designs import WorkloadRecipe
from ldp_core.workloads import MeanPart
from pages.ui.design import settings

FITTED = [name for name in mechanisms.names() if library.spec(name).fitted]


def test_fits_run_from_the_compare_page_and_join_the_table(app):
    app.declare(bins=8).go("compare").enter("multiselect", "compared", [*FITTED, "haar"])
    app.press("optimise").finish()
    app.go("compare")
    (figures,) = [table for table in app.dataframes if "users_needed" in table]
    assert set(figures["name"]) == {library.spec(name).title for name in [*FITTED, "haar"]}
    assert "promise less than pure epsilon" in app.words  # one of them is (epsilon, delta)
    assert not app.has("button", "optimise")


FAMILIES = [
    next(name for name in names if not library.spec(name).fitted)
    for group, names in settings.GROUPS.items()
    if group not in ("yours", "open values", "several items")
    and not all(library.spec(name).fitted or library.spec(name).surveys_only for name in names)
]


@pytest.mark.parametrize("name", dict.fromkeys([*FAMILIES, "hierarchical_2d", "gaussian", "hierarchical"]))
def test_a_mechanism_of_each_family_opens_on_the_design_page_with_all_its_choices(app, name):
    declared = app.declare_table() if name == "hierarchical_2d" else app.declare(bins=8)
    if name in settings.GROUPS["means"]:
        app.session.change(
            workload=WorkloadRecipe(parts=(MeanPart(attribute=app.configuration.domain.attributes[0].name),))
        )
    declared.go("design").enter("selectbox", "mechanism", name)
    setting = app.session.setting
    assert app.metric("People needed") == wording.needed(setting.users_needed(setting.mechanism(name), setting.case))
    assert "People needed" in app.words
    for parameter, values in library.spec(name).choices.items():
        for value in values:
            app.enter("selectbox", f"choice-{parameter}", value)
            assert app.control("selectbox", f"choice-{parameter}").value == value
            assert app.session.setting.parameters_for(name).get(parameter, values[0]) == value
            # What cannot be had, or must not be deployed, is said in a sentence.
            assert app.errors or "People needed" in app.words
        app.enter("selectbox", f"choice-{parameter}", values[0])


def test_mechanisms_are_offered_by_group_and_those_that_cannot_run_say_why(app):
    app.sample("working_lives.csv", "design")
    workload, epsilon = app.workload, app.session.configuration.epsilon_value
    reasons = {name: library.spec(name).unsuitable(workload.n, epsilon, workload) for name in library.REGISTRY}
    shown = app.control("selectbox", "mechanism").options
    runs = {
        library.spec(name).full_title + ("" if name == "optimized" else f" · {settings.group(name)}")
        for name in library.REGISTRY
        if reasons[name] is None
    }
    assert shown[0] == library.spec("optimized").title
    assert set(shown) == runs
    others = [name for name in library.REGISTRY if reasons[name] is not None]
    assert f"{len(others)} mechanisms unavailable (why?)" in [fold.label for fold in app.at.expander]
    assert all(f"**{library.spec(name).title}**" in app.words.replace("\\", "") for name in others)
    assert sorted(name for names in settings.GROUPS.values() for name in names) == sorted(library.REGISTRY)
