"""Each command on a small design: its numbers are those that the app has for the same design."""

import csv
import math
import zipfile

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from designs_of_commands import HIERARCHICAL, OPTIMIZED, session

from ldp_core import designs, frames, mechanisms
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.deploy import collector
from ldp_core.deploy.collector import reasons
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.client import Device
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import (
    DifferenceToDetect,
    MechanismRecipe,
    Optimizer,
    WorkloadRecipe,
    certificate_file,
    choices,
    detecting,
    strict_json,
)
from ldp_core.designs.standalone import ready
from ldp_core.workloads import Detect, DifferencePart, HistogramPart
from pages.ui.session import exchange


def costs_of(state, name):
    """The app's figures for a mechanism, as `design` writes them."""
    mechanism, case = state.setting.mechanism(name), state.setting.aim(name)
    return {
        "mechanism": state.setting.named(name),
        "audited_epsilon": mechanism.audit().epsilon,
        "users": state.setting.users,
        "case": case,
        "users_needed": state.setting.users_needed(mechanism, case),
        "users_no_mechanism_can_do_without": {one: state.setting.bounds(one) for one in state.setting.cases},
        "gap": state.setting.gap(mechanism, case),
        "questions": strict_json.plain(state.setting.lines(mechanism), ""),
    }


# --- design -------------------------------------------------------------------------------------------------------------


def test_a_fitted_design_has_the_costs_and_the_zip_of_the_app(shell):
    output = shell.folder / "made.zip"
    found = shell.result("design", shell.file(OPTIMIZED), "-o", output)
    state = session(OPTIMIZED, "optimized")
    told = costs_of(state, "optimized")
    assert {name: found[name] for name in told} == told
    written, exported = designs.load(output.read_bytes()), designs.load(exchange.export(state))
    assert written.configuration == exported.configuration
    assert written.outcome == exported.outcome
    np.testing.assert_array_equal(written.mechanism.strategy, exported.mechanism.strategy)
    # Given the zip, nothing is fitted again: the strategy in it is judged.
    assert shell.result("design", output)["users_needed"] == told["users_needed"]


def test_a_difference_to_detect_is_that_of_the_app(shell):
    """In two collections, or between the groups that the questions compare."""
    arm = CategoricalAttribute(name="arm", values=("old", "new"), known=True)
    compared = DifferencePart(of=HistogramPart(attribute="age"), attribute="arm", first="new", second="old")
    groups = HIERARCHICAL.with_(
        domain=Domain(attributes=(arm, *HIERARCHICAL.domain.attributes)),
        workload=WorkloadRecipe(parts=(compared,)),
        mechanism=MechanismRecipe(name="subset_selection"),
    )
    asked = Detect(5.0, 0.9, 0.01)
    flags = ["--detect", asked.difference, "--power", asked.power, "--significance", asked.level]
    for design in (HIERARCHICAL, groups):
        state = session(design)
        mechanism = state.setting.mechanism(state.setting.chosen)
        found = detecting.of_design(state.setting, mechanism, asked)
        told = shell.result("design", shell.file(design), *flags)["detection"]
        assert told["answers"] == strict_json.plain(found.table, "")
        assert told["in_words"] == found.in_words()
        assert shell.run("design", shell.file(design), *flags) == 0
        assert told["in_words"].replace("\N{NO-BREAK SPACE}", " ") in shell.out.replace("\N{NO-BREAK SPACE}", " ")
    chosen = groups.with_(
        targets={"difference of points of the group": DifferenceToDetect(difference=5.0, power=0.9, level=0.01)}
    )
    found = shell.result("design", shell.file(chosen), "--detect")
    assert found["detection"] == told
    assert found["users_needed"] == max(row["users_needed"] for row in told["answers"])
    for size in ("0", "nan", "-5"):
        assert "must be above 0, in the unit of the answers" in shell.refused(
            "design", shell.file(HIERARCHICAL), "--detect", size
        )


# --- audit --------------------------------------------------------------------------------------------------------------


def matrix(shell, strategy, name="own.csv"):
    return shell.holding("\n".join(",".join(map(repr, row)) for row in np.asarray(strategy).tolist()), name)


def test_a_design_is_audited_as_in_the_app(shell):
    state = session(HIERARCHICAL)
    found = shell.result("audit", shell.file(HIERARCHICAL))
    mechanism = state.setting.mechanism("hierarchical")
    assert found["audited_epsilon"] == mechanism.audit().epsilon
    assert found["answers_the_questions"]
    assert found["gap"] == state.setting.gap(mechanism)
    labels = [state.setting.labels[one] for one in mechanism.audit().worst_pair]
    assert found["worst_pair_named"] == labels
    assert shell.run("audit", shell.file(HIERARCHICAL)) == 0
    assert f"Told apart best {labels[0]} and {labels[1]}" in " ".join(shell.out.split())


def test_an_audit_has_the_bound_of_the_page_and_searches_for_no_other(shell, monkeypatch):
    """What takes longer to prove than seconds is proved where somebody asks for it, and then it is in the file."""
    for limit in ("PROVED_UNASKED", "AT_ONCE_TYPES"):
        monkeypatch.setattr(choices, limit, 0)
    setting = ready(HIERARCHICAL)
    bound = shell.result("audit", shell.file(HIERARCHICAL))["users_bound"]
    assert bound == max(setting.bounds(setting.case).values())
    setting.prove(setting.case)
    outcome, proof = package.outcome_of(setting), package.certificate_of(setting)
    written = package.design(setting.configuration, outcome, setting.chosen_mechanism, certificate=proof)
    proved = shell.result("audit", shell.holding(written, "design.zip"))["users_bound"]
    assert proved == pytest.approx(setting.bounds(setting.case)["certificate"])
    assert proved > bound
    damaged = certificate_file.Written(proof.document, proof.arrays[:-1])
    written = package.design(setting.configuration, outcome, setting.chosen_mechanism, certificate=damaged)
    assert shell.result("audit", shell.holding(written, "design.zip"))["users_bound"] == bound
    assert "The proof in the file cannot be used" in shell.err


def test_a_matrix_of_ones_own_is_judged_like_a_mechanism_of_the_app(shell):
    """Randomized response written out as a matrix: the same epsilon, users and gap as the mechanism itself has."""
    state = session(HIERARCHICAL)
    same = mechanisms.create("randomized_response", n=8, epsilon=1.0)
    high, low = math.e / (math.e + 7), 1 / (math.e + 7)
    strategy = np.full((8, 8), low) + (high - low) * np.eye(8)
    own = matrix(shell, strategy)
    found = shell.result("audit", own, "--questions", shell.file(HIERARCHICAL))
    assert found["audited_epsilon"] == pytest.approx(1.0, abs=1e-11)
    assert found["users_needed"] == pytest.approx(state.setting.users_needed(same, "worst_case"), rel=1e-9)
    assert found["gap"] == pytest.approx(state.setting.gap(same, "worst_case"), rel=1e-9)
    np.save(shell.folder / "own.npy", strategy)
    np.savez(shell.folder / "own.npz", strategy)
    for name in ("own.npy", "own.npz", "own.csv"):
        alone = shell.result("audit", shell.folder / name)
        assert alone["audited_epsilon"] == pytest.approx(1.0, abs=1e-11)
        assert alone["types"] == 8
        assert "users_needed" not in alone


def test_a_matrix_that_breaks_the_promise_is_judged_at_its_own_epsilon(shell):
    strategy = np.full((8, 8), 0.05) + 0.6 * np.eye(8)  # 0.65 / 0.05
    file = shell.file(HIERARCHICAL)
    found = shell.result("audit", matrix(shell, strategy), "--questions", file)
    assert found["audited_epsilon"] == pytest.approx(math.log(13), rel=1e-9)
    assert found["judged_at_epsilon"] == pytest.approx(math.log(13), rel=1e-9)
    assert found["gap"] >= 0
    assert shell.run("audit", matrix(shell, strategy), "--questions", file) == 0
    assert "NOT KEPT" in shell.out


# --- kit and collect ------------------------------------------------------------------------------------------------------


def test_a_kit_is_signed_with_a_key_from_a_file(shell):
    key, output = shell.folder / "private.pem", shell.folder / "kit.zip"
    made = Ed25519PrivateKey.generate()
    key.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    told = shell.result("kit", shell.file(HIERARCHICAL), "-o", output, "--sign", key)
    assert told["public_key"] == made.public_key().public_bytes_raw().hex()
    assert Device.signed(open_kit(output).device, told["public_key"]).design == open_kit(output).design
    output.unlink()
    key.write_bytes(b"no key")
    assert shell.run("kit", shell.file(HIERARCHICAL), "-o", output, "--sign", key) == 2
    assert not output.exists()


@pytest.fixture
def collected(shell):
    """A kit and 400 reports of its device."""
    shell.result("kit", shell.file(HIERARCHICAL), "-o", shell.folder / "kit.zip")
    kit = open_kit(shell.folder / "kit.zip")
    device = Device(kit.device)
    lines = ["id,design,report", *(f"{i:032x},{kit.design},{device.report(i % 8)}" for i in range(400))]
    return kit, shell.holding("".join(f"{line}\n" for line in lines), "reports.csv")


def test_reports_become_the_answers_of_the_collector(shell, collected):
    kit, reports = collected
    found = shell.result("collect", shell.folder / "kit.zip", reports)
    counted = collector.collect([reports], kit.mechanism, kit.design)
    expected = collector.answers(counted, kit.mechanism, kit.workload)
    assert [row["answer"] for row in found["answers"]] == expected["answer"].tolist()
    promise = kit.lines()["in_words"]
    assert [line["in_words"] for line in found["questions"]] == promise.tolist()
    expected = expected.assign(promise=expected["line"].map(promise))
    assert found["files"] == [{"name": "reports.csv", "accepted": 400, "refused": {}, "repeated": 0}]
    output = shell.folder / "answers.csv"
    assert shell.run("collect", shell.folder / "kit.zip", reports, "-o", output) == 0
    assert output.read_text() == "\ufeff" + frames.as_csv(expected)  # for spreadsheets
    with output.open(encoding="utf-8-sig") as file:
        assert len(list(csv.DictReader(file))) == kit.workload.num_queries


def test_a_state_is_resumed_and_intervals_hold_at_any_time(shell, collected):
    _kit, reports = collected
    state = shell.folder / "counted.npz"
    about = (shell.folder / "kit.zip", reports, "--state", state)
    first, again = shell.result("collect", *about), shell.result("collect", *about, "--any-time")
    assert [one["accepted"] for one in again["files"]] == [400]
    wider = [row["high"] - row["low"] for row in again["answers"]]
    assert sum(wider) > sum(row["high"] - row["low"] for row in first["answers"])


def test_reports_that_are_left_out_are_told_by_their_reason(shell, collected):
    """A report that came twice, one of another design, an impossible one, and another one under an id: none is counted, and each
    is named."""
    kit, reports = collected
    with open(reports) as file:
        again = file.readlines()[1]
    own, design, sent = again.strip().split(",")
    impossible = "9 " + sent.partition(" ")[2]  # there are three levels
    with open(reports, "a") as file:
        file.write(f"{again}{9**9:032x},{'0' * 16},0\n{9**8:032x},{design},{impossible}\n{own},{design},9 {sent}\n")
    found = shell.result("collect", shell.folder / "kit.zip", reports)["files"]
    refused = {reasons.ANOTHER_DESIGN: 1, reasons.ANOTHER_REPORT: 1, reasons.OUTSIDE: 1}
    assert found == [{"name": "reports.csv", "accepted": 400, "refused": refused, "repeated": 1}]
    assert shell.run("collect", shell.folder / "kit.zip", reports) == 0
    assert "400 reports counted, 1 left out since the same report had come before under its id, 1 refused" in shell.out
    assert f"1 refused ({reasons.ANOTHER_REPORT})" in shell.out
    said = [line.replace("\N{NO-BREAK SPACE}", " ") for line in kit.lines()["in_words"]]
    assert shell.out.split("\n\n")[1].splitlines() == said
    assert len(shell.out.split("\n\n")[2].splitlines()) == 1 + kit.workload.num_queries  # and the rule below


def test_several_reports_of_a_person_are_of_several_occasions(shell):
    """Each of 100 people reports on each of four: how many of theirs are in the files must be said, and people count once."""
    several = HIERARCHICAL.with_(reports_per_user=4, epsilon="8", mechanism=MechanismRecipe(name="randomized_response"))
    shell.result("kit", shell.file(several), "-o", shell.folder / "kit.zip")
    kit = open_kit(shell.folder / "kit.zip")
    device = Device(kit.device)
    reports = shell.holding("report\n" + "".join(f"{device.report(i % 8)}\n" for i in range(400)), "reports.csv")
    about = ("collect", shell.folder / "kit.zip", reports)
    assert "--occasions" in shell.refused(*about)
    assert "1 to 4" in shell.refused(*about, "--occasions", "5")
    answers = shell.result(*about, "--occasions", "4")["answers"]
    assert answers[7]["answer"] == answers[0]["adds_up_to"] == pytest.approx(100)  # per cent of 100 people
    with zipfile.ZipFile(shell.folder / "kit.zip") as files:
        readme = files.read("README.md").decode()
    assert "4 separate occasions" in readme
    assert "collect.py reports.csv --occasions 1" in readme


# --- all of them ----------------------------------------------------------------------------------------------------------


def test_cells_of_several_answers_are_split(shell):
    texts = ["Bus", "Bus, Car", "Car", "Car, Walk", "Walk"]
    chosen = OPTIMIZED.with_(
        domain=Domain(attributes=(CategoricalAttribute(name="way", values=tuple(texts), origin="declared"),)),
        workload=WorkloadRecipe(parts=(HistogramPart(attribute="way", weight=2.0),)),
        optimizer=Optimizer(max_rounds=3, time_limit=None),
    )
    path, out = shell.file(chosen), shell.folder / "split.zip"
    told = shell.result("design", path, "--split", "way=,", "-o", str(out))
    assert len(told["questions"]) == 1
    made = designs.load(out.read_bytes()).configuration
    (way,) = made.domain.attributes
    assert (way.items, way.most, way.size) == (("Bus", "Car", "Walk"), 2, 7)
    assert [part.kind for part in made.workload.parts] == ["items"]
    assert made.workload.parts[0].weight == 2.0
    for wrong in ("way=", "bus=,", "way"):
        assert "Answers to split are named as COLUMN=SIGN" in shell.refused("design", path, "--split", wrong)
