"""What mixing the reports would give: one number on Design, Compare, Solve for and Export, that of the core."""

import pytest

from ldp_core import shuffled
from ldp_core.wording import rounded_up


@pytest.fixture
def subset(ages):
    ages.session.change(mechanism={"name": "subset_selection"})
    return ages


def central(app):
    return shuffled.shuffled(app.session.setting.mechanism("subset_selection"), app.session.setting.users)


def test_the_number_is_the_same_on_all_pages(subset):
    subset.go("design").open("design-tabs", "What a report tells").finish()
    number = f"central epsilon {rounded_up(central(subset), 3)} at delta"
    assert number in subset.words
    assert shuffled.TRUST in subset.words
    subset.go("export").finish()
    assert number not in subset.words, "off by default"
    subset.enter("toggle", "mixing", True).finish()
    assert any(number in code.value for code in subset.at.code)
    subset.go("compare").finish()
    table = next(one.value for one in subset.at.dataframe if "central_epsilon" in one.value)
    row = table[table["name"].str.startswith("Subset selection")].iloc[0]
    assert row["central_epsilon"] == pytest.approx(central(subset))


def test_a_central_epsilon_is_solved_for(subset):
    subset.solve_for("mixed")
    subset.enter("text_input", "central", "0.2").finish()
    table = next(one.value for one in subset.at.dataframe if "Epsilon of a report" in one.value)
    needed = float(table.loc[table["Mechanism"] == "Subset selection", "Epsilon of a report"].iloc[0])
    of = shuffled.blanket_of(subset.session.setting.mechanism("subset_selection"))
    assert shuffled.shuffled(of.at(needed), subset.session.setting.users) <= 0.2
    assert shuffled.shuffled(of.at(1.02 * needed), subset.session.setting.users) > 0.2
    subset.enter("text_input", "central", "much")
    assert "Epsilon must be a number" in subset.words


def test_several_reports_of_a_person_are_not_passed_over(subset, offered):
    subset.session.change(reports_per_user=2)
    subset.go("design").open("design-tabs", "What a report tells").finish()
    assert "worked out for one report a person" in subset.words
    assert "central epsilon 0" not in subset.words
    subset.go("compare").finish()
    assert not [one for one in subset.at.dataframe if "central_epsilon" in one.value]
    subset.go("export").enter("toggle", "mixing", True).finish()
    assert offered["ldp-kit.zip"]
