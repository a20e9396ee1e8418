"""What a person stops by hand stays stopped until they open a page that shows it, ask for it, or it is about something else."""

import pytest

from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import work
from pages.ui.tasks.jobs import jobs

COSTS = "working out what Hierarchical costs"


@pytest.fixture
def slow(busy, app, monkeypatch):
    """The Design page where the costs of the mechanism wait for a worker."""
    monkeypatch.setattr("ldp_core.designs.setting.UNASKED_TYPES", 16)
    app.session.change(mechanism=choose_mechanism("hierarchical"))
    return app.sample(page="design")


def found(app, title=COSTS):
    """The jobs of this title."""
    return [job for job in jobs().of(app.session.id) if job.title == title]


def stop(app, title=COSTS):
    (job,) = found(app, title)
    app.press(f"stop-{job.number}")
    return job


def ended(app, busy, title):
    """Stop it by hand, and wait for its end."""
    stop(app, title)
    busy.set()
    return app.finish()


@pytest.fixture
def stopped(slow, busy):
    """The same after somebody has stopped these, and they have ended."""
    stop(slow)
    assert "being worked out" in slow.words, "it has not ended yet"
    busy.set()
    return slow.finish()


def test_costs_stopped_by_hand_stay_stopped_until_a_page_that_shows_them_is_opened(stopped):
    (job,) = found(stopped)
    assert job.state == "cancelled"
    for _ in range(2):
        stopped.at.run()
        stopped.check()
        assert "Hierarchical. Its costs are not known yet" in stopped.words
        assert f"You stopped “{COSTS}”; it begins again when a page that shows it is opened." in stopped.words
        assert not stopped.errors
    stopped.go("guide").at.run()
    assert found(stopped) == [job], "nothing there shows them"
    stopped.go("design").finish()
    assert len(found(stopped)) == 2
    assert "You stopped" not in stopped.words
    assert any(metric.label == "People needed" for metric in stopped.at.metric)


def test_what_the_program_cancels_is_not_stopped(slow, busy):
    (job,) = found(slow)
    slow.session.change(epsilon="2")
    slow.at.run()
    assert job.cancelled(), "nobody waits for it any more"
    slow.session.change(epsilon="1")
    busy.set()
    slow.finish()
    assert "You stopped" not in slow.words
    assert any(metric.label == "People needed" for metric in slow.at.metric)


def proofs(app):
    return {case: app.session.setting.proof(case) for case in app.session.setting.cases}


def proving(app):
    return [job for job in jobs().of(app.session.id) if job.key.startswith("certificate:")]


def test_proofs_given_up_with_their_epsilon_begin_again_when_it_comes_back(ages, busy):
    ages.go("compare")
    asked = proving(ages)
    assert len(asked) == len(ages.session.setting.cases)
    ages.session.change(epsilon="2")
    ages.at.run()
    assert all(job.cancelled() and not job.stopped for job in asked), "nobody waits for them any more"
    ages.session.change(epsilon="1")
    ages.at.run()
    again = [job for job in proving(ages) if job.key in {job.key for job in asked} and not job.cancelled()]
    assert len(again) == len(asked), "they do not wait until those that were given up have ended"
    busy.set()
    ages.finish()
    assert all(proof is not None and proof.finished for proof in proofs(ages).values())


@pytest.mark.parametrize("page", ["compare", pytest.param("bounds", marks=pytest.mark.slow), "workload"])
def test_a_proof_stopped_by_hand_stays_stopped_on_every_page(ages, busy, page):
    ages.go(page)
    asked = {job.key: job for job in proving(ages)}
    ages.press("cancel-proof")
    (stopped,) = (job for job in asked.values() if job.stopped)
    for page in ("compare", "bounds", "workload", "design"):
        ages.go(page)
    busy.set()
    ages.finish()
    for page in ("compare", "bounds", "workload", "design"):
        ages.go(page).finish()
    assert [job for job in proving(ages) if job.key == stopped.key] == [stopped]


def test_a_kit_or_a_proof_that_was_stopped_leaves_the_design_alone(busy, ages, monkeypatch):
    monkeypatch.setattr(work, "AT_ONCE_TYPES", 2)
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    for case in ages.session.setting.cases:
        ages.session.setting.prove(case)
    ages.go("export")
    ended(ages, busy, "packing the kit")
    assert "There is no kit of this design. You stopped “packing the kit”" in ages.words
    assert ages.has("download_button", "download")
    ages.go("guide").go("export").finish()
    assert ages.has("download_button", "download-kit")


def test_a_proof_that_was_stopped_leaves_the_kit_without_one(busy, ages):
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go("export")
    assert not ages.has("button", "packing")
    stop(ages, "proving what no mechanism can beat, worst case")
    busy.set()
    ages.finish()
    assert ages.has("download_button", "download-kit")
    assert not ages.has("download_button", "download-proof")
