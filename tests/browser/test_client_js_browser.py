"""client.js in a real browser: from a page without a server, as a plain script and as a module, it gives the reports of client.py."""

import json
import random

import pytest

from ldp_core.deploy.kit import client, signing
from tests.deploy.kit.javascript import ANSWER, CLIENT, SOURCES, drawn
from tests.deploy.kit.samplers import KEY, OTHER, SAMPLERS, sealed

CODE, ASKED, MOCKED = (file.read_text(encoding="utf-8") for file in (CLIENT, ANSWER, SOURCES))


@pytest.mark.promise
@pytest.mark.parametrize("kind", ["", 'type="module"'], ids=["script", "module"])
def test_a_page_gives_the_reports_of_the_client_in_python(browser, tmp_path, kind):
    descriptions = [signing.sign(sealed(sampler), KEY) for sampler in SAMPLERS.values()]
    cases, expected = [], []
    for number, description in enumerate(descriptions):
        value = [random.Random(number).randrange(size) for size in description["sampler"]["sizes"]]
        found, taken = drawn(client.Device(description), value, number)
        cases.append([number, value, taken])
        expected.append(found)

    page_file = tmp_path / "page.html"
    page_file.write_text(
        f'<!doctype html><meta charset="utf-8"><title>A survey</title><script {kind}>{CODE}</script><script>{ASKED}\n{MOCKED}\n'
        f"const descriptions = {json.dumps(descriptions)};</script>",
        encoding="utf-8",
    )
    page, problems = browser.new_page(), []
    page.on("console", lambda said: problems.append(said.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    try:
        page.goto(page_file.as_uri())
        asked = "([reports, secure]) => answer({ devices: descriptions, reports, secure })"
        found = page.evaluate(asked, [cases, [[0, [2, 3]]]])
        said = "(error) => error.message"
        signed = f"(keys) => Promise.all(keys.map((key) => LDP.Device.signed(descriptions[0], key).then(() => 'made', {said})))"
        keys = page.evaluate(signed, [signing.public_key(KEY), signing.public_key(OTHER)])
        again = "([code, k]) => withSources(() => (0, eval)(code) ?? LDP, descriptions[k])"
        assert page.evaluate(again, [CODE, [*SAMPLERS].index("response")]) == [19, {}]
    finally:
        page.close()
    assert found["devices"] == ["made"] * len(descriptions)
    assert found["reports"] == expected
    assert found["secure"] == [{"answer": ["0", "1"]}]  # of types that send another report once in 10^15 times
    assert keys == ["made", "The signature of this device does not fit the key: do not use it."]
    assert not problems
