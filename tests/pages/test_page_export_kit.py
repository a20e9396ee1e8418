"""Export offers the kit: what is in it, that it loads again, and where there is none."""

import json

import pytest

from ldp_core.deploy.commands import main
from pages.ui.session import exchange
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import work
from tests.deploy.kit.kits import members


def packed(app):
    """The kit on offer, once the proofs that are in it are there."""
    app.finish()
    found = work.kit(app.session, app.session.setting.mechanism(app.configuration.mechanism.name)).result
    assert app.has("download_button", "download-kit") == (found is not None)
    return found


@pytest.mark.parametrize("name", ["optimized", "subset_selection"])
def test_the_kit_of_the_page_is_that_of_the_command(ages, name, tmp_path):
    ages.session.change(mechanism=choose_mechanism(name))
    ages.session.setting.build(name)
    content = packed(ages.go("export"))
    (tmp_path / "design.zip").write_bytes(exchange.export(ages.session))
    assert main(["kit", str(tmp_path / "design.zip"), "-o", str(tmp_path / "kit.zip")]) == 0
    ours, theirs = members(content), members((tmp_path / "kit.zip").read_bytes())
    assert {"certificate.json", "certificate.npz", "verify.py"} < ours.keys() == theirs.keys()
    differ = {name for name in ours if ours[name] != theirs[name]}
    assert differ == (
        {"outcome.json", "report.html"} if name == "optimized" else set()
    )  # a strategy from a file is called so
    recorded = [json.loads(files["outcome.json"])["users_no_mechanism_can_do_without"] for files in (ours, theirs)]
    assert recorded[0] == recorded[1]


def test_continuous_noise_has_no_kit_and_the_page_says_why(ages):
    ages.go("design").enter("selectbox", "mechanism", "gaussian").go("export")
    assert "There is no kit of this design." in ages.words
    assert "continuous noise, which no device can draw exactly" in ages.words
    assert packed(ages) is None
    assert ages.has("download_button", "download")
    assert "device.json" not in ages.words
