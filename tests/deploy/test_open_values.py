"""Kits for people of whom only some values are secret: every journey once, exact laws of both clients, altered files, and what is said."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ldp_core.data.domain import Domain
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import audit, client, package
from ldp_core.deploy.kit.devices import describe
from ldp_core.designs.standalone import ready, realise
from tests.deploy.kit.examples import EPSILON, half_open
from tests.deploy.kit.javascript import by_node, needs_node
from tests.deploy.kit.kits import breaks, members
from tests.deploy.kit.laws import largest_ratio, law
from tests.deploy.kit.samplers import again
from tests.deploy.test_journeys import QUESTIONS, collected, designed
from tests.refused import refused

SURVEYS = [question for question in QUESTIONS if "many" in question]
QUICK = ("two types", "both columns", "averages of known groups, and shares", "secret groups compared")


def opened(question):
    """A design with the first value of every column open."""
    chosen = designed(question, "optimized")
    attributes = [
        one if one.known else one.model_copy(update={"secret": one.labels[1:]}) for one in chosen.domain.attributes
    ]
    return chosen.with_(domain=Domain(attributes=tuple(attributes)))


@needs_node
@pytest.mark.parametrize(
    "question",
    [
        pytest.param(one, marks=() if one in QUICK else pytest.mark.slow)
        for one in QUESTIONS
        if one not in SURVEYS and one != "1,500 types"
    ],
)
def test_reports_of_a_kit_with_open_values_come_back_as_answers(question, tmp_path):
    setting = realise(opened(question))
    assert setting.chosen_mechanism.audit().promise == "secret"
    collected(setting, tmp_path, node=question in QUICK[1:3])


@pytest.mark.parametrize("question", SURVEYS)
def test_surveys_refuse_open_values_in_a_sentence(question):
    refused(r"Values that are not secret are handled for at most 2,048 types so far", lambda: ready(opened(question)))


def described(mechanism):
    return json.loads(json.dumps(describe(mechanism, EPSILON)))


def test_the_exact_law_keeps_the_promise_and_open_reports_say_one_value():
    mechanism = half_open()
    description = described(mechanism)
    assert description["format"] == client.LATER
    laws = [law(client.Device(description), u) for u in range(mechanism.n)]
    secret = np.flatnonzero(mechanism.promised).tolist()
    assert description["sampler"]["secret"] == secret == [3, 4, 5]
    found = audit.audit(description)
    assert largest_ratio(laws, secret) == found.largest <= found.limit
    assert laws == [{(y,): Fraction(p) for y, p in enumerate(column) if p} for column in mechanism.strategy.T.tolist()]


@needs_node
@pytest.mark.parametrize("groups", [False, True])
def test_both_clients_draw_by_the_table(groups):
    mechanism, people = half_open(groups), 3000
    description = described(mechanism)
    sizes = description["sampler"]["sizes"]
    device, rng = client.Device(description), np.random.default_rng(0)
    for u in range(sizes[-1]):
        value, column = ([1, u], mechanism.strata[1].strategy[:, u]) if groups else (u, mechanism.strategy[:, u])
        drawn = [device.report(value, rng.bytes) for _ in range(people)]
        (by_js,) = by_node(devices=[description], secure=[[0, [value] * people]])["secure"]
        for reports in (drawn, by_js["answer"]):
            tally = np.bincount([int(report.split()[-1]) for report in reports], minlength=len(column))
            assert not tally[column == 0].any()
            sent = column > 0
            if sent.sum() > 1:
                assert stats.chisquare(tally[sent], column[sent] / column.sum() * people).pvalue > 1e-6


def alterations(description):
    """Files that open a secret value, or break what is promised to it, with ids that match."""
    table = description["sampler"]
    one_less = again({**description, "sampler": {**table, "secret": table["secret"][1:]}})
    yield "said of the sampler alone", one_less
    columns = [list(column) for column in table["columns"]]
    openly = next(y for y in range(len(columns[0])) if not any(columns[u][y] for u in table["secret"]))
    moved = min(1000, max(columns[3]))
    columns[3][int(np.argmax(columns[3]))] -= moved
    columns[3][openly] += moved
    yield "its own report", again({**description, "sampler": {**table, "columns": columns}})
    yield "every value secret", again({**description, "sampler": {k: v for k, v in table.items() if k != "secret"}})
    yield "the former format", again(description) | {"format": client.FORMAT}
    yield (
        "within another",
        again({**description, "sampler": {"kind": "classes", "sizes": [6], "classes": [*range(6)], "draw": table}}),
    )


@needs_node
def test_an_altered_file_that_opens_a_secret_value_is_refused():
    ill, town = (
        {
            "name": name,
            "kind": "categories",
            "size": size,
            "ordinary": size,
            "words": {},
            "clamp": False,
            "secret": secret,
        }
        | {"other": None, "missing": None}
        for name, size, secret in (("ill", 2, [1]), ("town", 3, []))
    )
    sound = again({**described(half_open()), "domain": {"attributes": [ill, town]}})
    client.Device(sound)
    altered = dict(alterations(sound))
    for name, description in altered.items():
        refused(r".", client.Device, description)
        if name != "said of the sampler alone":
            assert breaks(description), name
    assert by_node(devices=[sound])["devices"] == ["made"]
    assert "made" not in by_node(devices=[*altered.values()])["devices"]


def test_every_text_of_a_kit_says_what_is_hidden_and_what_may_show(tmp_path):
    setting = realise(opened("two types"))
    files = members(package.kit(setting))
    assert 'these answers are hidden: "a" a 1.' in files["people.txt"].decode()
    assert "Every other answer is open" in files["people.txt"].decode()
    assert "One-sided local differential privacy" in files["README.md"].decode()
    report = files["report.html"].decode()
    assert "one-sided (utility-optimised) local differential privacy" in report
    assert "Every person who takes part is promised" not in report
    assert "This is so for any two values" not in report
    for name in ("device.json", "audit.py", "client.py"):
        (tmp_path / name).write_bytes(files[name])
    told = subprocess.run(
        [sys.executable, "audit.py", "device.json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "The promise is made to people with a secret value (a: a 1)" in told.stdout
    everything = members(package.kit(realise(designed("two types", "optimized"))))
    assert json.loads(everything["device.json"])["format"] == client.FORMAT
    assert "hidden" not in everything["people.txt"].decode().replace("Not hidden", "")


def test_the_command_line_says_which_values_are_secret(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("configuration.json").write_bytes(designed("two types", "optimized").to_json())
    assert main(["design", "configuration.json", "--secret", "a=a 1", "-o", "design.zip", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["promise"], told["audited_epsilon"] <= 2) == ("secret", True)
    assert main(["kit", "design.zip", "-o", "kit.zip"]) == 0
    device = client.Device(json.loads(members(Path("kit.zip").read_bytes())["device.json"]))
    Path("reports.csv").write_text("report\n" + "".join(device.report(k % 2) + "\n" for k in range(50)))
    capsys.readouterr()
    assert main(["collect", "kit.zip", "reports.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["promise"] == "secret"
    for wrong in ("a=a 7", "b=a 1", "a="):
        assert main(["design", "configuration.json", "--secret", wrong]) == 2
        assert "secret" in capsys.readouterr().err.lower()
