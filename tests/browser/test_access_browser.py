"""Web pages of other names: what a real server answers them."""

import http.client
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

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


@pytest.mark.promise
def test_only_names_of_this_machine_are_answered(address):
    assert [status(address, host, host) for host in OWN] == [101] * len(OWN)
    assert status(address, FOREIGN, FOREIGN) == status(address, FOREIGN) == status(address, "localhost.evil") == 403
    assert status(address, "127.0.0.1", FOREIGN) == 403
    for path in ("/", "/data", "/_stcore/host-config", "/media/x"):
        assert status(address, FOREIGN, path=path) == 403
    assert status(address, FOREIGN, path="/_stcore/health") == 200  # tells nothing


@pytest.mark.promise
def test_a_page_whose_name_was_pointed_here_gets_one_sentence(browser, address):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(address.replace("127.0.0.1", FOREIGN)).status == 403
    expect(page.locator("body")).to_have_text(
        re.compile(rf"not served under the name {FOREIGN}: .* to server.allowedHosts\.$")
    )
    context.close()
