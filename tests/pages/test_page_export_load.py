"""Export and load: the same screen comes back, and a file that cannot be used changes nothing."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from ldp_core import mechanisms
from ldp_core.designs.configuration import Optimizer
from pages.ui.session import exchange


def document(app):
    return json.loads(app.configuration.to_json())


def exported(app):
    return exchange.export(app.session)


def figures(app):
    return {metric.label: metric.value for metric in app.go("design").at.metric}


def optimised(app):
    """An optimised design on a sample."""
    app.sample().session.change(optimizer=Optimizer(max_rounds=20))
    app.go("design").enter("text_input", "epsilon-text", "1.5")
    return app.press("optimise").finish()


_kept = []


@pytest.fixture
def unmoved(another):
    """An optimised design that is shared by all the tests in which nothing happens to it."""
    if not _kept:
        app = optimised(another())
        _kept.append((app, app.configuration))
    app, before = _kept[0]
    assert app.configuration == before
    return app


def refused(app, content, said, name="design.zip"):
    """The file is refused with one sentence, and the design and its results are untouched."""
    before, costed = app.configuration, app.session.setting.costed(app.configuration.mechanism.name)
    app.load(content, name)
    assert len(app.errors) == 1
    assert said in app.errors[0], app.errors
    assert app.errors[0].endswith("What you had set up is unchanged.")
    assert app.configuration == before
    assert app.session.setting.costed(before.mechanism.name) is costed


@pytest.mark.promise
def test_a_zip_restores_the_screen_in_another_session(unmoved, another):
    zipped = exported(unmoved)
    other = another().load(zipped)
    assert "The design was loaded." in other.words
    assert other.configuration == unmoved.configuration
    other.go("design").finish()  # the proofs are made again
    assert figures(other) == figures(unmoved)
    ours, theirs = json.loads(member(zipped, "outcome.json")), json.loads(member(exported(other), "outcome.json"))
    assert ours["mechanism"].pop("origin") == "computed here"
    assert theirs["mechanism"].pop("origin") == "loaded from a file, not computed here"
    assert "fitted numerically" in ours["mechanism"].pop("explanation")
    assert "loaded from a file, not computed here" in theirs["mechanism"].pop("explanation")
    limits = [one.pop("users_no_mechanism_can_do_without") for one in (ours, theirs)]
    assert ours == theirs
    for case, found in limits[0].items():  # a proof that comes back is checked anew, and rounded once more
        assert found == pytest.approx(limits[1][case], rel=1e-9)
    assert member(exported(other), "strategy.npz") == member(zipped, "strategy.npz")


def member(zipped, name):
    return zipfile.ZipFile(io.BytesIO(zipped)).read(name)


def repacked(zipped, **members):
    """The zip with other members, named without their endings, as somebody with a text editor would make it."""
    buffer, archive = io.BytesIO(), zipfile.ZipFile(io.BytesIO(zipped))
    with zipfile.ZipFile(buffer, "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, members.get(name.split(".")[0], archive.read(name)))
    return buffer.getvalue()


def swapped(zipped, epsilon, errors=None):
    """The zip with randomized response for its strategy, every digest recomputed, and perhaps the people that it needs."""
    outcome = json.loads(member(zipped, "outcome.json"))
    n = outcome["strategy"]["shape"][1]
    strategy, packed = mechanisms.create("randomized_response", n, epsilon).strategy, io.BytesIO()
    np.savez_compressed(packed, strategy=strategy)
    outcome["strategy"].update(sha256=hashlib.sha256(packed.getvalue()).hexdigest(), shape=list(strategy.shape))
    if errors is not None:
        outcome["users_needed"] = errors
    return repacked(zipped, strategy=packed.getvalue(), outcome=json.dumps(outcome).encode())


NOT_OURS = "not computed here"


@pytest.mark.promise
def test_a_swapped_strategy_never_passes_for_a_result_of_the_app(unmoved, another):
    zipped = exported(unmoved)
    assert NOT_OURS not in unmoved.go("design").words
    assert NOT_OURS not in unmoved.go("export").words
    other = another().load(swapped(zipped, 1.5))
    assert "The strategy was loaded from the file, not computed here" in other.words
    assert "errors recorded in the file are not those of its strategy" in other.words
    for page in ("compare", "bounds", "simulate"):  # the sidebar is on every page
        assert "loaded from a file and not computed here" in other.go(page).words
    assert f"loaded from a file, {NOT_OURS}. Its epsilon" in other.go("design").words
    assert f"loaded from a file, {NOT_OURS}, and the export says so" in other.go("export").words
    own = other.session.setting
    forged = {case: own.users_needed(own.chosen_mechanism, case) for case in ("worst_case", "average")}
    again = another().load(swapped(zipped, 1.5, forged))
    assert "errors recorded in the file" not in again.words  # a careful forger gets this far, and no further
    assert "loaded from a file and not computed here" in again.words
    assert NOT_OURS in again.go("export").words
    assert "loaded from a file" in json.loads(member(exported(again), "outcome.json"))["mechanism"]["origin"]
    again.go("design").open("design-tabs", "Patterns and proof").press("optimise").finish()
    assert NOT_OURS not in again.go("design").words
    assert figures(again) == figures(unmoved)


def test_the_strategy_that_was_computed_in_this_session_stays_its_own(app):
    fitted = optimised(app)
    fitted.load(exported(fitted))
    assert NOT_OURS not in fitted.words
    assert fitted.session.setting.fitted(fitted.configuration.mechanism.name)[1]  # with the history of its fit


@pytest.mark.promise
def test_the_export_page_says_what_is_promised_and_revealed(unmoved):
    unmoved.go("export")
    assert "Pure local differential privacy with epsilon = 1.5" in unmoved.words
    assert 'The range of "age"' in unmoved.words
    assert "3,000, was counted in the data" in unmoved.words
    names = zipfile.ZipFile(io.BytesIO(exported(unmoved))).namelist()
    proof = ["certificate.json", "certificate.npz", "verify.py"]
    assert sorted(names) == sorted(["configuration.json", "outcome.json", "strategy.npz", *proof])
    for name in names:
        assert f"**{name}**" in unmoved.words


def test_bare_json_offers_to_optimise_again(unmoved, another):
    other = another().load(document(unmoved), "configuration.json")
    assert other.session.setting.fitted("optimized_gradient") is None
    assert "optimise again" in other.words
    other.go("design").press("optimise").finish()
    assert "optimise again" not in other.words  # what the file lacks is there by now
    assert figures(other) == figures(unmoved)  # the seed is in the file


def test_uploaded_rows_are_asked_for_and_fit_back_in(app, another):
    rows = b"first,colour\n1,red\n2,blue\n3,red\n"
    app.upload("rows.csv", rows).columns("colour")
    other = another().load(document(app), "configuration.json")
    assert "The data itself is not in the file" in other.words
    assert "file not loaded" in other.words
    assert "for people spread evenly" in other.words
    assert set(other.session.setting.counts) == {1, 2}
    assert not other.session.setting.on_data
    before = other.configuration
    other.upload("rows.csv", rows)
    assert other.configuration == before  # not the first column of the file: the one the design is about
    assert other.session.setting.counts.tolist() == app.session.setting.counts.tolist()
    assert other.session.setting.on_data


EDITED = [
    ({"epsilon": "0"}, "Epsilon 0 is too small"),
    ({"mechanism": {"name": "magic", "parameters": {}}}, "Unknown mechanism 'magic'"),
    ({"workload": {"parts": [{"kind": "histogram", "attribute": "age", "weight": -1}]}}, "weight"),
    ({"colour": "red"}, "colour"),
    ({"version": 99}, "format version 99"),
    ({"simulation": {"seed": 0, "trials": 20, "estimators": ["guess"]}}, "guess"),
]


def test_configurations_edited_by_hand(unmoved):
    for change, said in EDITED:
        refused(unmoved, {**document(unmoved), **change}, said, "configuration.json")


NO_DESIGNS = [
    (b"", "not valid JSON"),
    (b"[]", "not a configuration"),
    (b"\xff\xfe\x00", "UTF-8"),
    (b"PK\x03\x04 broken", "zip"),
]


def test_files_that_are_no_design(unmoved):
    for content, said in NO_DESIGNS:
        refused(unmoved, content, said)
    zipped = bytearray(exported(unmoved))
    zipped[len(zipped) // 2] ^= 0xFF
    refused(unmoved, bytes(zipped), "damaged zip")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("holiday.jpg", b"")
    refused(unmoved, buffer.getvalue(), "holiday.jpg")


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"recipes": [{"kind": "numeric", "column": "nope", "bins": 4}]}},
        {"domain": "edges"},
        {"simulation": {"seed": 2**62, "trials": 20, "estimators": []}},
        {"population": {"users": None, "origin": "declared", "shape": "uniform"}},
    ],
    ids=str,
)
def test_odd_but_valid_files_break_no_page(ages, another, change):
    edited = document(ages)
    for key, value in change.items():
        if key == "domain":
            edited["domain"]["attributes"][0]["edges"] = [0.0, 1.0, 2.0]
        elif key == "data":
            edited["data"].update(value)
        else:
            edited[key] = value
    other = another().load(edited, "configuration.json")
    assert "The design was loaded." in other.words
    for page in ("data", "workload", "design", "compare", "simulate", "export"):
        other.go(page)
