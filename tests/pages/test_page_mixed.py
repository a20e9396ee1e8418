"""What mixing the reports would give: one sentence, that of the core, on Design and in the review."""

import io
import zipfile

import pytest

from ldp_core import shuffled
from ldp_core.wording import rounded_up


@pytest.fixture
def subset(ages):
    ages.session.change(mechanism={"name": "subset_selection"})
    return ages


def central(app):
    return shuffled.shuffled(app.session.setting.mechanism("subset_selection"), app.session.setting.users)


@pytest.mark.promise
def test_the_sentence_stands_once_and_goes_into_the_review_where_it_is_asked_for(subset, offered):
    setting = subset.session.setting
    said = shuffled.promised(setting.mechanism("subset_selection"), setting.users)
    assert f"central epsilon {rounded_up(central(subset), 3)} at delta" in said
    subset.go("export").finish()
    assert said not in review(offered)
    subset.go("design").open("design-tabs", "What a report tells").finish()
    assert said in subset.words
    subset.enter("toggle", "mixing", True).go("export").finish()
    assert said in review(offered)
    assert not any(said in code.value for code in subset.at.code)


def review(offered):
    """The report for a privacy review in the kit on offer, as text."""
    with zipfile.ZipFile(io.BytesIO(offered["ldp-kit.zip"])) as kit:
        return kit.read("report.html").decode().replace("&nbsp;", " ")


def test_several_reports_of_a_person_are_not_passed_over(subset, offered):
    subset.session.change(reports_per_user=2)
    subset.go("design").open("design-tabs", "What a report tells").finish()
    assert "worked out for one report a person" in subset.words
    assert "central epsilon 0" not in subset.words
    assert not subset.has("toggle", "mixing")
    subset.session.view["mixing"] = True  # asked for when each person sent one
    subset.go("export").finish()
    assert "central epsilon 0" not in review(offered)
