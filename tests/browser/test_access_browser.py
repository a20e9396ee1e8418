"""Other web pages and other users of this machine: what a real server answers them, and what it shows them."""

import http.client
import re
from urllib.parse import urlsplit

import pytest
import streamlit as st
from playwright.sync_api import expect
from streamlit.runtime.context import ContextProxy

from pages.ui import access

FOREIGN = "elsewhere.example"
OWN = ["localhost", "127.0.0.1", "[::1]", "LOCALHOST."]


def status(address, host, origin=None, path="/_stcore/stream"):
    """What the server answers to a request for a WebSocket, or another one, that comes with this Host and Origin."""
    port = urlsplit(address).port
    headers = {"Host": f"{host}:{port}"} | ({} if origin is None else {"Origin": f"http://{origin}:{port}"})
    if path == "/_stcore/stream":
        headers |= {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        headers["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    connection.close()
    return answer.status


def test_only_names_of_this_machine_are_answered(address):
    assert [status(address, host, host) for host in OWN] == [101] * len(OWN)
    assert status(address, FOREIGN, FOREIGN) == status(address, FOREIGN) == status(address, "localhost.evil") == 403
    assert status(address, "127.0.0.1", FOREIGN) == 403
    for path in ("/", "/data", "/_stcore/host-config", "/media/x"):
        assert status(address, FOREIGN, path=path) == 403
    assert status(address, FOREIGN, path="/_stcore/health") == 200  # tells nothing


def test_a_page_whose_name_was_pointed_here_gets_one_sentence(browser, address):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(address.replace("127.0.0.1", FOREIGN)).status == 403
    expect(page.locator("body")).to_have_text(
        re.compile(rf"not served under the name {FOREIGN}: .* to server.allowedHosts\.$")
    )
    context.close()


def test_paths_want_the_code_of_the_terminal_once_a_browser(guest, visit, server, tmp_path):
    _, log = server
    people = tmp_path / "people.csv"
    people.write_text("age,place\n" + "".join(f"{k % 90},town {k % 7}\n" for k in range(300)))

    def at_paths(visitor):
        visitor.go("Data")
        visitor.drawn()
        visitor.main.get_by_text("File on this machine", exact=True).first.click()
        visitor.drawn()

    one, other = guest, visit()
    at_paths(one)
    expect(one.entry("local-path")).to_have_count(0)
    one.enter("paths-code", "aaaa-bbbb-cccc")
    expect(one.main.get_by_text("not the code")).to_be_visible()
    (code,) = re.findall(r"type this code on the page: (\S+)", log.read_text())
    one.entry("paths-code").fill(f" {code.upper()} ")
    one.entry("paths-code").press("Enter")
    one.enter("local-path", str(people))
    one.button("local-open").click()
    expect(one.sidebar).to_contain_text("age")
    one.go("Start")  # Streamlit looks for its files beside any other page first
    one.page.reload()
    at_paths(one)
    expect(one.entry("local-path")).to_have_count(1)
    at_paths(other)
    expect(other.entry("paths-code")).to_have_count(1)
    expect(other.entry("local-path")).to_have_count(0)


@pytest.mark.parametrize(
    ("headers", "offered"),
    [
        ({"Host": "localhost:8501", "Origin": "http://localhost:8501"}, True),
        ({"Host": "[::1]:8501"}, True),
        ({"Host": "app.example.com", "Origin": "https://app.example.com"}, False),
        ({"Host": "localhost:8501", "Origin": "https://app.example.com"}, False),  # a proxy that renames
        ({"Host": "localhost:8501", "Origin": "null"}, False),
        ({"Origin": "http://localhost"}, False),
        ({"Host": "localhost@evil"}, False),
    ],
)
def test_files_by_path_are_offered_to_sessions_by_names_of_this_machine(monkeypatch, headers, offered):
    """Also where an operator lets every name in."""
    monkeypatch.setattr(ContextProxy, "headers", headers)
    monkeypatch.setattr(st, "get_option", lambda name: {"server.address": "127.0.0.1"}[name])
    assert access.may_read_local_files() is offered
