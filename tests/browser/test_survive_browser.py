"""What survives a refresh, a lost connection and a closed tab, for whom, and how it is forgotten."""

import json
import re
import secrets
import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, expect

from pages.ui.data import actions as data_actions
from pages.ui.session.state import Session
from tests.browser import words
from tests.browser.conftest import Visitor, begin, beside, design, still, until
from tests.browser.raw import RawVisitor

PEOPLE = b"age,place\n" + b"".join(b"%d,town %d\n" % (i % 256, i % 4) for i in range(512))


QUERIES = "32 answers"
"""The sidebar with that table: one for each bin."""


@pytest.fixture(scope="module")
def analyst(browser, address):
    """Somebody who has uploaded a table, and to whom one thing after the other happens."""
    visitor = Visitor(browser, address)
    table = {"name": "people.csv", "mimeType": "text/csv", "buffer": PEOPLE}
    visitor.upload(table, design(visitor.page).get_by_text("Data: age"))
    yield visitor
    visitor.context.close()
    # A page in a folder is looked for there first: no problem of ours.
    visitor.problems = [said for said in visitor.problems if "404" not in said and "ERR_INTERNET" not in said]
    visitor.check()


def long_search():
    """The uploaded table in 256 bins at epsilon 0.7, with a search that goes on until it is stopped."""
    state = Session("one")
    data_actions.upload(state, PEOPLE, "people.csv")
    bins = state.choice.recipes[0].model_copy(update={"bins": 256})
    state.set_data(state.choice.model_copy(update={"recipes": (bins,)}), state.source)
    state.change(epsilon="0.7", optimizer=state.configuration.optimizer.model_copy(update={"time_limit": 3000.0}))
    return {"name": "configuration.json", "mimeType": "application/json", "buffer": state.configuration.to_json()}


def test_a_lost_connection_loses_nothing(analyst):
    sockets, down = [], []

    def connect(socket):
        if down:
            socket.close()
        else:
            socket.connect_to_server()
            sockets.append(socket)

    page = analyst.page
    analyst.drawn()
    before = design(page).inner_text()
    page.route_web_socket(re.compile("_stcore/stream"), connect)
    page.reload()
    following = analyst.button("next")
    expect(following).to_be_enabled()
    expect(design(page)).to_have_text(before, use_inner_text=True)
    down.append(True)
    sockets[-1].close()
    expect(following).to_be_disabled()
    down.clear()
    expect(following).to_be_enabled()
    analyst.go("Bounds")
    expect(design(page)).to_have_text(before, use_inner_text=True)
    analyst.context.set_offline(True)
    with pytest.raises(Error):
        page.reload()
    analyst.context.set_offline(False)
    page.reload()
    expect(page.locator("h1")).to_have_text("Bounds")
    expect(design(page)).to_have_text(before, use_inner_text=True)


@pytest.mark.slow
def test_tabs_opened_at_the_same_moment_are_one_browser(browser, address):
    """The second arrives before the first has its cookie, and is answered after that."""
    context, waiting, sockets = still(browser), [], []

    def answer_late(socket):
        sockets.append(socket)
        late, connection = len(sockets) == 1, socket.connect_to_server()
        connection.on_message(lambda told: waiting.append((socket, told)) if late else socket.send(told))

    second = context.new_page()
    first = beside(second)
    second.route_web_socket(re.compile("_stcore/stream"), answer_late)
    second.goto(address)
    until(second, lambda: waiting, 50)
    assert not [cookie for cookie in context.cookies() if cookie["name"].startswith("ldp")]
    first.goto(address)
    begin(first)
    (given,) = [cookie["value"] for cookie in context.cookies() if re.fullmatch(r"ldp-\d+", cookie["name"])]

    def came_again():
        for socket, told in waiting[:]:
            socket.send(told)
            waiting.remove((socket, told))
        return len(sockets) > 1

    until(second, came_again, 50)
    expect(design(second)).to_contain_text(words.EMPTY)
    kept = {cookie["name"]: cookie["value"] for cookie in context.cookies()}
    assert given in kept.values()
    first.reload()
    expect(design(first)).to_contain_text(words.SAMPLE_QUERIES)
    context.close()


def said(visitor):
    """What the page is told about its cookie."""
    script = next(text for text in reversed(visitor.scripts) if "ldp.remember({" in text)
    return json.loads(script.rsplit("ldp.remember(", 1)[1].split("); document.")[0])


@pytest.mark.promise
def test_nobody_else_gets_a_session(analyst, server):
    """The number of a cookie opens the sessions of its browser, and nothing else does."""
    address, _, log, _ = server
    own = said(alone := RawVisitor(address))
    name, token = own["name"], own["token"]
    alone.press("begin")
    assert len(token) == 43
    assert {cookie["name"] for cookie in analyst.context.cookies()} >= {name}
    (cookie,) = [cookie for cookie in analyst.context.cookies() if cookie["name"] == name]
    assert (cookie["sameSite"], cookie["path"]) == ("Strict", "/")
    assert 3000 < cookie["expires"] - time.time() <= 3600
    assert cookie["value"] != token
    for secret in (cookie["value"], token):
        assert secret not in analyst.page.content()
        assert secret not in log.read_text()
    guesses = ["", secrets.token_urlsafe(32), alone.session, token[:-1], token.swapcase(), '"});alert(1)//']
    for guess in guesses:
        stranger = RawVisitor(address, f"{name}={guess}", "guide")
        assert said(stranger)["token"] not in (token, guess, cookie["value"])
        assert "alert" not in json.dumps(said(stranger))
        assert any(words.EMPTY in line.replace("\\", "") for line in stranger.lines)
        stranger.leave()
    beside = RawVisitor(address, f"{name}={token}", "guide")  # the same browser, while its first tab lives
    assert said(beside)["token"] == token
    assert any(words.EMPTY in line.replace("\\", "") for line in beside.lines)
    alone.leave()
    beside.leave()


@pytest.mark.promise
def test_a_refresh_brings_back_data_design_and_work_that_is_running(analyst):
    page = analyst.page
    analyst.load(long_search())
    analyst.go("Design")
    analyst.button("optimise").click()
    expect(analyst.sidebar).to_contain_text(words.FITTING)
    expect(design(page)).to_contain_text(words.UNKNOWN)
    before = design(page).inner_text()
    page.reload()
    expect(page.locator("h1")).to_have_text("Design")
    expect(design(page)).to_have_text(before, use_inner_text=True)
    expect(analyst.sidebar).to_contain_text(words.FITTING)
    expect(page.get_by_test_id("stMain").get_by_role("slider").first).to_have_attribute(
        "aria-valuetext", re.compile("0[.]70?$")
    )
    page.reload()  # and once more, while it is drawn
    analyst.button("cancel").click()
    expect(design(page)).to_contain_text(words.GAP)
    page.reload()
    expect(design(page)).to_contain_text(words.GAP)
    analyst.go("Data")
    expect(page.get_by_test_id("stMain").get_by_text("512").first).to_be_visible()
    stranger = RawVisitor(analyst.address)
    stranger.go(urlsplit(page.url).path.strip("/"))
    assert any(words.EMPTY in line.replace("\\", "") for line in stranger.lines)
    stranger.leave()
    analyst.button("undo").click()
    expect(design(page)).to_contain_text("Epsilon: 1")


def test_every_live_tab_has_its_own_design_and_the_one_left_last_comes_back(analyst):
    first, second = analyst.page, beside(analyst.page)
    second.goto(analyst.address)
    expect(design(second)).to_contain_text(words.EMPTY)
    begin(second)
    first.close()
    second.close()
    for told in (words.SAMPLE_QUERIES, QUERIES):
        page = analyst.context.new_page()
        page.goto(analyst.address)
        expect(design(page)).to_contain_text(told)
