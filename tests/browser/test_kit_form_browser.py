"""What runs in a kit as it stands: the page that asks one person, and the script for Node."""

import csv
import functools
import json
import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.deploy.collector import collect
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.standalone import realise
from ldp_core.workloads import KWayMarginalsPart
from tests.deploy.kit.javascript import needs_node
from tests.deploy.kit.kits import NASTY, kit_of, members


@pytest.fixture(scope="module")
def people():
    """A kit about three columns: known, of categories with a hostile name, and of numbers."""
    domain = Domain(
        attributes=(
            CategoricalAttribute(name="arm", values=("new", "old"), known=True, origin="declared"),
            CategoricalAttribute(name=NASTY, values=("yes", "</option><b>no"), missing="category", origin="declared"),
            NumericAttribute(name="age", edges=(0, 18, 65, 100), origin="declared"),
        )
    )
    chosen = Configuration(
        domain=domain,
        population=Population(users=1000, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=(KWayMarginalsPart(k=1),)),
        mechanism=MechanismRecipe(name="randomized_response"),
    )
    return kit_of(realise(chosen))


@pytest.fixture
def folder(people, tmp_path):
    for name, content in members(people).items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def counted(kit, folder, rows):
    (folder / "reports.csv").write_text("\n".join(["id,design,report", *rows, ""]), encoding="utf-8")
    opened = open_kit(kit)
    return collect([folder / "reports.csv"], opened.mechanism, opened.design)


def test_the_page_of_a_kit_draws_one_report_and_keeps_it(people, folder, browser):
    handler = functools.partial(SimpleHTTPRequestHandler, directory=folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/form.html")
    expect(page.locator("#promise li")).to_have_count(5)
    page.get_by_label("arm").select_option("new")
    page.get_by_role("combobox").nth(1).select_option("</option><b>no")
    page.get_by_role("textbox").fill("200")
    page.get_by_role("button").click()
    expect(page.locator("#said")).to_contain_text("of age is outside the domain.")
    page.get_by_role("textbox").fill("42")
    page.get_by_role("button").click()
    expect(page.locator("#said")).to_contain_text("This is all that would be sent:")
    first = page.locator("#said").inner_text()
    page.reload()
    page.get_by_label("arm").select_option("old")
    page.get_by_role("combobox").nth(1).select_option("yes")
    page.get_by_role("textbox").fill("17")
    page.get_by_role("button").click()
    expect(page.locator("#said")).to_have_text(first)
    page.close()
    server.shutdown()
    sent = json.loads(first.split(":", 1)[1])
    assert set(sent) == {"id", "design", "report"}
    assert len(sent["id"]) == 32
    assert counted(people, folder, [",".join(sent.values())]).users == 1


@needs_node
def test_the_script_of_a_kit_draws_reports_of_people_by_name(people, folder):
    (folder / "package.json").write_text('{"type": "module"}')
    said = [{"arm": arm, NASTY: "yes", "age": age} for arm in ("new", "old") for age in (17, 42, 99)]
    command = ["node", "answers.cjs", *map(json.dumps, said)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    head, *rows = done.stdout.splitlines()
    assert head == "id,design,report"
    assert len({row[0] for row in csv.reader(rows)}) == len(rows) == 6
    assert counted(people, folder, rows).users == 6


def test_people_are_told_in_five_lines_what_holds_for_the_design(people):
    lines = members(people)["people.txt"].decode().splitlines()
    assert len(lines) == 5
    assert '"arm" is sent as it is' in lines[0].lower()
    assert "someone who thinks a value is 50 % likely can become at most 73.2 % sure" in lines[2].replace("\xa0", " ")
