"""Export offers the kit: what is in it, that it loads again, and where there is none."""

import pytest

from ldp_core import designs, wording
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs.configuration import Optimizer
from pages.ui.session import exchange
from pages.ui.tasks import work


def packed(app):
    """The kit on offer, once the proofs that are in it are there."""
    app.finish()
    found = work.kit(app.session, app.session.mechanism(app.configuration.mechanism.name)).result
    assert app.has("download_button", "download-kit") == (found is not None)
    return found


@pytest.fixture
def subsets(ages):
    return ages.go("design").enter("selectbox", "mechanism", "subset_selection").go("export")


def test_the_kit_on_offer_is_that_of_the_design_and_loads_again(subsets, another):
    content = packed(subsets)
    opened = open_kit(content)
    assert opened.configuration == subsets.configuration
    assert opened.mechanism.digest == subsets.session.mechanism("subset_selection").digest
    assert (
        designs.load(content).outcome["expected_errors"]
        == designs.load(exchange.export(subsets.session)).outcome["expected_errors"]
    )
    other = another().load(content)
    assert "The design was loaded." in other.words
    assert other.configuration == subsets.configuration
    assert packed(other.go("export")) == content


def test_the_page_says_what_is_in_the_kit_and_how_large_it_is(subsets):
    assert f"The kit ({wording.significant(len(packed(subsets)) / 1000)} kB)" in subsets.words
    for name in designs.bundle.KIT:
        assert f"**{name}**" in subsets.words
    assert "The clients in the kit draw them." in subsets.words
    assert [b.key for b in subsets.at.download_button][:2] == ["download-kit", "download"]


def test_what_whole_numbers_cost_is_told_for_what_was_fitted_here(ages, another):
    ages.session.change(optimizer=Optimizer(max_rounds=5))
    ages.go("design").press("optimise").finish().go("export").finish()
    mechanism = ages.session.mechanism(ages.configuration.mechanism.name)
    assert abs(mechanism.lost) < 1e-4
    told = wording.small_share(mechanism.lost).replace("\N{NO-BREAK SPACE}", " ")
    assert f"takes {told} more users for the same error" in ages.words
    content = packed(ages)
    other = another().load(content).go("export").finish()
    assert "more users for the same error" not in other.words  # a table from a file is a table already
    assert packed(other) is not None


def test_continuous_noise_has_no_kit_and_the_page_says_why(ages):
    ages.go("design").enter("selectbox", "mechanism", "gaussian").go("export")
    assert "There is no kit of this design." in ages.words
    assert "continuous noise, which no device can draw exactly" in ages.words
    assert packed(ages) is None
    assert ages.has("download_button", "download")
    assert "device.json" not in ages.words


def test_what_takes_long_is_packed_in_the_background(subsets, monkeypatch):
    monkeypatch.setattr(work, "AT_ONCE_TYPES", 0)
    subsets.go("design").enter("text_input", "epsilon-text", "1.7").go("export")
    assert subsets.has("button", "packing") or subsets.has("download_button", "download-kit")
    subsets.finish()
    assert open_kit(packed(subsets)).configuration.epsilon == "1.7"
