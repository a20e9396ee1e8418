"""Designs where the collector knows a column, from the configuration to the answers of a kit: the column is sent in the clear, counted by
group, and never part of what is drawn."""

import csv
import hashlib
import io
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from ldp_core import designs, library
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import client, devices, package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.standalone import realise
from ldp_core.workloads import DifferencePart, PrefixPart
from tests.deploy.kit.javascript import by_node, needs_node
from tests.deploy.kit.kits import members, packed
from tests.refused import refused

ARM = CategoricalAttribute(name="arm", values=("a", "b"), known=True)
REGION = CategoricalAttribute(name="region", values=("north", "south", "west"), known=True)
SCORE = RangeAttribute(name="score", low=1, high=6, bins=6, integer=True)
PEOPLE = 600
COMPARED = DifferencePart(of=PrefixPart(attribute="score"), attribute="arm", first="a", second="b")
CLEAR = "Sent in the clear beside each report, and not protected at all, as the collector knows it already:"
REFUSED = {name for name in library.names() if library.spec(name).continuous or library.spec(name).surveys_only}


def designed(name, **more):
    return Configuration(
        domain=Domain(attributes=(ARM, SCORE, REGION)),
        population=Population(users=PEOPLE, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=(COMPARED,)),
        epsilon="2.0",
        mechanism=MechanismRecipe(name=name),
        optimizer=Optimizer(max_rounds=2, **more),
    )


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_other_mechanisms_are_refused_in_a_sentence(name):
    refused(r"Vectors with noise are not offered|It is for surveys", lambda: realise(designed(name)))


def test_one_group_is_a_design_like_any_other_byte_for_byte():
    """A column of one value is known to everybody: the same strategy, reports and kit as where it is secret, and nothing in the clear."""
    one = ARM.model_copy(update={"values": ("a",)})
    asked = designed("optimized").with_(workload=WorkloadRecipe(parts=(PrefixPart(attribute="score"),)))
    kits = [
        members(package.kit(realise(asked.with_(domain=Domain(attributes=(column, SCORE))))))
        for column in (one, one.model_copy(update={"known": False}))
    ]
    same = {"strategy.npz", "device.json", "vectors.json", "certificate.json", "certificate.npz"} & kits[0].keys()
    assert {"strategy.npz", "device.json"} <= same
    for name in same:
        assert kits[0][name] == kits[1][name], name
    for name in ("README.md", "report.html"):
        assert CLEAR not in (said := kits[0][name].decode())
        assert "No column is sent in the clear." in said
    assert 'of "score" per report' in kits[0]["README.md"].decode()


def test_what_is_drawn_does_not_depend_on_the_known_column():
    """Equal bytes, another arm: the report is the same but for the number of its group."""
    device = client.Device(json.loads(members(package.kit(realise(designed("optimized"))))["device.json"]))
    for score in range(6):
        sent = [device.report([arm, score, 1], lambda many: bytes(range(many))).split() for arm in (0, 1)]
        assert sent[0][1:] == sent[1][1:]
        assert [one[0] for one in sent] == ["1", "4"]


@pytest.mark.parametrize("name", ["arm", "arm ", "ＡＲＭ".lower(), "\u200barm", "a\u00adrm"])
def test_two_columns_with_names_that_look_the_same_are_refused(name):
    refused(
        "names must differ, and look different",
        lambda: Domain(attributes=(ARM, SCORE.model_copy(update={"name": name}))),
    )


def test_forged_and_broken_reports_are_refused_and_noticed(tmp_path):
    content = package.kit(realise(designed("optimized")))
    (tmp_path / "kit.zip").write_bytes(content)
    rows = ["report", "0 0", "5 0", "6 0", "-1 0", "0", "0 0 0", "0 999"]
    (tmp_path / "reports.csv").write_text("\n".join([*rows, ""]))
    opened = open_kit(content)
    found = collector.collect(tmp_path / "reports.csv", opened.mechanism, opened.design)
    assert (found.users, sum(found.refused.values())) == (2, 5)
    found.save(tmp_path / "state")
    assert type(found).load(tmp_path / "state", opened.mechanism).digest == found.digest


def test_the_command_line_weights_to_a_population_and_says_whom_intervals_are_for(tmp_path, capsys):
    content = package.kit(realise(designed("optimized")))
    kit = open_kit(content)
    counts = np.random.default_rng(0).multinomial(PEOPLE, np.full(36, 1 / 36))
    (tmp_path / "kit.zip").write_bytes(content)
    (tmp_path / "reports.csv").write_bytes(collector.simulated(kit.mechanism, kit.design, counts, 0))
    out, asked = tmp_path / "answers.csv", ["collect", str(tmp_path / "kit.zip"), str(tmp_path / "reports.csv")]
    groups = [f"{arm}, {region}" for arm in ARM.values for region in REGION.values]
    sizes = np.arange(1, 7) * 1000
    stated = [f"{group}={size}" for group, size in zip(groups, sizes, strict=True)]
    assert main([*asked, "-o", str(out), "--drawn", "--population", *stated]) == 0
    found = collector.collect([str(tmp_path / "reports.csv")], kit.mechanism, kit.design)
    expected = collector.answers(found, kit.mechanism, kit.workload, sizes=sizes, drawn=True)
    told = pd.read_csv(out)
    for column in ("answer", "low", "high", "standard_error"):
        assert told[column].to_numpy() == pytest.approx(expected[column].to_numpy())
    assert told["standard_error"].iloc[-1] == 0, "nobody scores more than 6, so that this is known but for rounding"
    capsys.readouterr()
    assert main([*asked, "--drawn"]) == 0
    assert "Intervals are for the population that they were drawn from." in capsys.readouterr().out
    assert main([*asked, "--population", *stated[1:]]) != 0
    assert '"a, north" is missing' in capsys.readouterr().err


UNLIKE = {
    "tables": [f"score = {k}" for k in range(1, 6)] + ["score < 4 and arm = 'b'"],
    "a table and a closed form": ["score < 3 and arm = 'a'", "score > 2"],
}


@needs_node
@pytest.mark.parametrize("asked", UNLIKE)
def test_groups_with_designs_of_their_own_go_from_design_to_answers(asked, tmp_path):
    part = {"kind": "predicates", "predicates": [{"expression": expression} for expression in UNLIKE[asked]]}
    written = designed("optimized").with_(workload=WorkloadRecipe.model_validate({"parts": [part]}))
    setting = realise(written)
    made, content = setting.chosen_mechanism, package.kit(setting)
    assert len(made.drawn_by_design) == 2
    assert {bool(own.files()) for own in made.drawn_by_design} == ({True} if asked == "tables" else {True, False})
    assert open_kit(content).mechanism.digest == made.digest == designs.load(content).mechanism.digest
    described = json.loads(members(content)["device.json"])
    assert len(described["sampler"]["draws"]) == 2
    assert described["sampler"]["which"] == made.which.tolist()
    device, values = client.Device(described), np.stack(np.unravel_index(np.arange(36), (2, 6, 3)), axis=1).tolist()
    alone = [client.checked(devices.describe(own, "2.0"))[0] for own in made.drawn_by_design]
    whole = client.checked(described)[0]
    assert Fraction(whole.high, whole.low) == max(Fraction(one.high, one.low) for one in alone)
    equal = [[0, value, bytes(range(64)).hex()] for value in values]
    theirs = [one["answer"][0] for one in by_node(devices=[described], reports=equal)["reports"]]
    assert theirs == [device.report(value, lambda many: bytes(range(64))[:many]) for value in values]
    rng = np.random.default_rng(0)
    people = rng.integers(0, 36, PEOPLE)
    with (tmp_path / "reports.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["report"], *([device.report(values[k])] for k in people)])
    (tmp_path / "kit.zip").write_bytes(content)
    out = tmp_path / "answers.csv"
    assert main(["collect", str(tmp_path / "kit.zip"), str(tmp_path / "reports.csv"), "-o", str(out)]) == 0
    counts = np.bincount(people, minlength=36)
    spread = np.sqrt(np.maximum(made.query_variances(setting.workload, counts), 0.0))
    answers = pd.read_csv(out)["answer"] / 100 * PEOPLE
    assert (np.abs(answers - setting.workload.answers(counts)) <= 6 * spread + 1e-6).all()
    assert main(["audit", str(tmp_path / "kit.zip")]) == 0


def test_designs_of_other_groups_are_refused():
    part = {"kind": "predicates", "predicates": [{"expression": expression} for expression in UNLIKE["tables"]]}
    written = designed("optimized").with_(workload=WorkloadRecipe.model_validate({"parts": [part]}))
    setting = realise(written)
    content = members(package.design(written, package.outcome_of(setting), setting.chosen_mechanism))
    outcome = json.loads(content["outcome.json"])
    for told in ([], outcome["strategy"]["parameters"] * 2, outcome["strategy"]["parameters"][:1], [{}] * 100):
        altered = json.dumps({**outcome, "strategy": {**outcome["strategy"], "parameters": told}}).encode()
        with pytest.raises(ValueError, match=r"other groups|a design has only"):
            designs.load(packed({**content, "outcome.json": altered}))
    arrays = dict(np.load(io.BytesIO(content["strategy.npz"])))
    for which in ([0.0] * 6, [0.0, 1.0], [0, 1, 2, 0, 1, 0.5], [np.nan] * 6):
        strategy = io.BytesIO()
        np.savez(strategy, **{**arrays, "which": np.array(which, dtype=float)})
        sealed = {**outcome["strategy"], "sha256": hashlib.sha256(strategy.getvalue()).hexdigest()}
        altered = json.dumps({**outcome, "strategy": sealed}).encode()
        with pytest.raises(ValueError, match="other groups"):
            designs.load(packed({**content, "outcome.json": altered, "strategy.npz": strategy.getvalue()}))


def test_a_device_is_not_for_another_split_of_the_columns():
    setting = realise(designed("optimized"))
    content = members(package.kit(setting))
    inputs = json.loads(content["configuration.json"])
    inputs["domain"]["attributes"][2]["known"] = False
    refused(r".", lambda: open_kit(packed({**content, "configuration.json": json.dumps(inputs).encode()})))
    inputs["domain"]["attributes"][0]["known"] = False  # no column is known any more, and the strategy is for 6 types
    refused(
        "optimise again", lambda: designs.load(packed({**content, "configuration.json": json.dumps(inputs).encode()}))
    )
    whole = realise(
        setting.configuration.with_(
            domain=Domain(attributes=[a.model_copy(update={"known": False}) for a in (ARM, SCORE, REGION)])
        )
    )
    kept = members(package.design(whole.configuration, {}, whole.chosen_mechanism))
    refused(
        "each group that the collector knows has 6: optimise again",
        lambda: designs.load(packed({**kept, "configuration.json": setting.configuration.to_json()})),
    )
    description = devices.describe(setting.chosen_mechanism, "2.0", setting.domain)
    assert description["sampler"]["sizes"] == [6, 6]
