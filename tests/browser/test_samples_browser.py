"""Every sample in a real browser: pressed, judged, exported; the commands in the kit's README run word for word; its reports collected."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import words
from tests.browser.conftest import ROOT, hand

CATALOGUE = json.loads((ROOT / "sample_data" / "catalogue.json").read_text())
TITLES = {sample["file"]: sample["title"] for sample in CATALOGUE}
USUAL = "favourites.csv"


def commands(readme):
    """The lines for a shell in the README of a kit."""
    return "\n".join(re.findall(r"^```sh\n(.*?)^```", readme, flags=re.M | re.S))


@pytest.mark.parametrize("file", [pytest.param(f, marks=() if f == USUAL else pytest.mark.slow) for f in TITLES])
def test_a_sample_becomes_answers(file, guest, tmp_path):
    page = guest.page
    guest.menu(words.SAMPLES)
    page.get_by_test_id("stPopoverBody").get_by_role("button", name=TITLES[file]).click()
    expect(guest.sidebar).not_to_contain_text(words.EMPTY)
    page.keyboard.press("Escape")
    guest.go("Design")
    optimise = guest.button("optimise")
    verdict = page.locator(".st-key-verdict").filter(has_text=re.compile(words.USABLE))
    expect(verdict.or_(optimise.filter(has_text="Optimise (")).first).to_be_visible()
    guest.drawn()
    assert not optimise.filter(has_text="Optimise (").is_visible()  # what is quick begins by itself
    expect(verdict).to_be_visible()

    guest.go("Export")
    with page.expect_download() as download:
        guest.button("download-kit").click()
    with zipfile.ZipFile(download.value.path()) as kit:
        kit.extractall(tmp_path)
    folder = next(tmp_path.rglob("device.json")).parent
    told = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }

    def run(text):
        shell = ["sh", "-ec", commands(text)]
        done = subprocess.run(shell, cwd=folder, env=told, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    once, daily = (folder / "README.md").read_text().split("## Over several days")
    assert "collect.py reports.csv" in commands(once)
    assert "reports counted" in run(once)
    head, *rows = (folder / "reports.csv").read_text().splitlines()
    for k, day in enumerate(("monday", "tuesday", "wednesday")):
        (folder / f"{day}.csv").write_text("\n".join([head, *rows[k::3]]) + "\n")
    run(daily)
    run("```sh\npython3 collect.py reports.csv -o once.csv\n```")
    assert (folder / "answers.csv").read_text() == (folder / "once.csv").read_text()

    guest.go("Collect")
    choose = page.get_by_role("radio", name="Upload").click
    choose()
    box = guest.main.locator("[data-testid=stFileUploader] input")
    taken = page.locator(".st-key-reports-1")  # an empty one in its place
    hand(page, box, folder / "reports.csv", taken, choose)
    expect(guest.metric(words.COUNTED)).to_be_visible()
    expect(page.locator(".st-key-chart-collected .js-plotly-plot").first).to_be_visible()
