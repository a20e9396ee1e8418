"""Designs where the collector knows a column, from the configuration to the answers of a kit: the column is sent in the clear, counted by
group, and never part of what is drawn."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from ldp_core import designs, library
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import client, devices, package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.standalone import ready, realise
from ldp_core.workloads import DifferencePart, HistogramPart, MeanPart, PrefixPart
from pages.ui.session import exchange
from pages.ui.session.state import Session
from tests.deploy.kit.javascript import by_node, needs_node
from tests.deploy.kit.kits import members, packed
from tests.deploy.kit.samplers import again
from tests.deploy.test_journeys import unpacked

ARM = CategoricalAttribute(name="arm", values=("a", "b"), known=True)
REGION = CategoricalAttribute(name="region", values=("north", "south", "west"), known=True)
SCORE = RangeAttribute(name="score", low=1, high=6, bins=6, integer=True)
PEOPLE = 600
COMPARED = DifferencePart(of=PrefixPart(attribute="score"), attribute="arm", first="a", second="b")
NAMES = [
    name
    for name in library.names()
    if not (library.spec(name).continuous or library.spec(name).surveys_only or name in ("fourier", "hierarchical_2d"))
]


def designed(name, **more):
    part = MeanPart(attribute="score") if name in ("duchi", "piecewise", "hybrid") else COMPARED
    return Configuration(
        domain=Domain(attributes=(ARM, SCORE, REGION)),
        population=Population(users=PEOPLE, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=(part,)),
        epsilon="2.0",
        mechanism=MechanismRecipe(name=name),
        optimizer=Optimizer(max_rounds=2, **more),
    )


def said(row):
    return {"arm": ARM.values[row[0]], "score": int(row[1]) + 1, "region": REGION.values[row[2]]}


@needs_node
@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_goes_from_design_to_answers(name, tmp_path):
    setting = realise(designed(name))
    content = package.kit(setting)
    kit, made, workload = unpacked(content, tmp_path), setting.chosen_mechanism, setting.workload
    assert open_kit(content).mechanism.digest == made.digest == open_kit(kit).mechanism.digest
    rng = np.random.default_rng(0)
    values = np.stack([rng.integers(0, size, PEOPLE) for size in (2, 6, 3)], axis=1)
    described = json.loads((kit / "device.json").read_text())
    device, people = client.Device(described), [said(row) for row in values]
    half = [device.report(value) for value in people[: PEOPLE // 2]]
    (other,) = by_node(devices=[described], secure=[[0, people[PEOPLE // 2 :]]])["secure"]
    drawn = half + other["answer"]
    assert [int(report.split()[0]) for report in drawn] == (values[:, 0] * 3 + values[:, 2]).tolist()
    with (tmp_path / "reports.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["report"], *([report] for report in drawn)])
    out = tmp_path / "answers.csv"
    assert main(["collect", str(tmp_path / "kit.zip"), str(tmp_path / "reports.csv"), "-o", str(out)]) == 0
    told = pd.read_csv(out)
    counts = np.bincount(np.ravel_multi_index(values.T, (2, 6, 3)), minlength=36)
    spread = np.sqrt(np.maximum(made.query_variances(workload, counts), 0.0))
    if workload.unit(0) is None:
        assert (np.abs(told["answer"] - workload.answers(counts)) <= 6 * spread + 1e-6).all()
        assert (told["promised"] >= spread - 1e-6).all()
    assert main(["simulate", str(tmp_path / "kit.zip"), "--trials", "3"]) == 0


def test_equal_bytes_give_equal_reports_in_both_languages_and_vectors_hold():
    content = package.kit(realise(designed("optimized")))
    described, vectors = (json.loads(members(content)[name]) for name in ("device.json", "vectors.json"))
    cases = [[0, case["value"], case["bytes"]] for case in vectors["reports"]]
    assert [one["answer"][0] for one in by_node(devices=[described], reports=cases)["reports"]] == [
        case["report"] for case in vectors["reports"]
    ]
    assert {len(value) for value in (case["value"] for case in vectors["reports"])} == {3}


def test_what_is_drawn_does_not_depend_on_the_known_column():
    """Equal bytes, another arm: the report is the same but for the number of its group."""
    device = client.Device(json.loads(members(package.kit(realise(designed("optimized"))))["device.json"]))
    for score in range(6):
        sent = [device.report([arm, score, 1], lambda many: bytes(range(many))).split() for arm in (0, 1)]
        assert sent[0][1:] == sent[1][1:]
        assert [one[0] for one in sent] == ["1", "4"]


ALTERED = {
    "a secret column in the clear": lambda told: told["domain"]["attributes"][1].update(known=True),
    "nothing in the clear": lambda told: [one.pop("known", None) for one in told["domain"]["attributes"]],
    "a group without a sampler": lambda told: told["sampler"]["which"].pop(),
    "a sampler that is not there": lambda told: told["sampler"]["which"].__setitem__(0, 9),
    "another width": lambda told: told["sampler"].update(width=7),
    "a flag that is none": lambda told: told["domain"]["attributes"][1].update(known=0.5),
    "within another": lambda told: told.update(
        sampler={"kind": "classes", "sizes": [36], "classes": [0] * 36, "draw": told["sampler"]}
    ),
    "numbers of one size": lambda told: told["sampler"].update(sizes=[36]),
}


@needs_node
@pytest.mark.parametrize("name", ALTERED)
def test_altered_devices_are_refused_by_both_clients(name):
    described = json.loads(members(package.kit(realise(designed("optimized"))))["device.json"])
    ALTERED[name](described)
    described = again(described)
    with pytest.raises(ValueError) as refused:
        client.Device(described)
    (found,) = by_node(devices=[described])["devices"]
    assert found != "made"
    assert found == str(refused.value)


def test_the_review_says_first_what_is_sent_in_the_clear(tmp_path, capsys):
    kit = unpacked(package.kit(realise(designed("optimized"))), tmp_path)
    clear = "Sent in the clear beside each report, and not protected at all, as the collector knows it already:"
    report, readme = (kit / "report.html").read_text(), (kit / "README.md").read_text()
    assert clear in readme
    assert 0 < report.index(clear) < report.index("Every person who takes part is promised")
    assert "one person's value of" in report
    assert "any of the 6 possible ones" in report
    assert client.in_the_clear(json.loads((kit / "device.json").read_text())["domain"]["attributes"]) == [
        "arm",
        "region",
    ]
    from ldp_core.deploy.kit import audit

    assert audit.main([str(kit / "device.json")]) == 0
    assert '"arm", "region": sent in the clear' in capsys.readouterr().out


def test_forged_and_broken_reports_are_refused_and_noticed(tmp_path):
    content = package.kit(realise(designed("optimized")))
    (tmp_path / "kit.zip").write_bytes(content)
    rows = ["report", "0 0", "5 0", "6 0", "-1 0", "0", "0 0 0", "0 999"]
    (tmp_path / "reports.csv").write_text("\n".join([*rows, ""]))
    opened = open_kit(content)
    from ldp_core.deploy.collector import collect

    found = collect(tmp_path / "reports.csv", opened.mechanism, opened.design)
    assert (found.users, sum(found.refused.values())) == (2, 5)
    found.save(tmp_path / "state")
    assert type(found).load(tmp_path / "state", opened.mechanism).digest == found.digest


def test_designs_with_several_fits_say_that_files_do_not_hold_them():
    alone = HistogramPart(attribute="score", by=("arm",))
    both = WorkloadRecipe(parts=(alone, COMPARED, PrefixPart(attribute="score")))
    asked = {"predicates": [{"expression": "score < 3 and arm = 'a'"}, {"expression": "score > 2"}]}
    unlike = WorkloadRecipe.model_validate({"parts": [{"kind": "predicates", **asked}]})
    package.kit(realise(designed("optimized").with_(workload=both)))
    with pytest.raises(ValueError, match="ask the same questions of every group"):
        package.kit(realise(designed("optimized").with_(workload=unlike)))
    package.kit(realise(designed("hadamard").with_(workload=unlike)))  # needs no file


def test_files_links_and_the_command_line_carry_it(tmp_path, capsys):
    recipes = [{"kind": "categorical", "column": "arm", "categories": ["a", "b"], "known": True}]
    recipes.append(
        {"kind": "numeric", "column": "score", "method": "range", "low": 1, "high": 6, "bins": 6, "integer": True}
    )
    written = Configuration(
        data=DeclaredData.model_validate({"recipes": recipes}),
        workload=WorkloadRecipe(parts=(PrefixPart(attribute="score", by=("arm",)),)),
        population=Population(users=PEOPLE, origin="declared", shape="uniform"),
        optimizer=Optimizer(max_rounds=5),
    )
    setting = ready(written)
    assert [attribute.known for attribute in setting.domain.attributes] == [True, False]
    assert setting.workload.strata is not None
    assert designs.from_link(designs.to_link(setting.configuration)) == setting.configuration
    (tmp_path / "design.json").write_bytes(written.to_json())
    zipped = str(tmp_path / "design.zip")
    assert main(["design", str(tmp_path / "design.json"), "-o", zipped]) == 0
    shown = capsys.readouterr().out
    assert "Running totals along score, within each arm" in shown
    again_ = designs.load((tmp_path / "design.zip").read_bytes())
    assert again_.mechanism.strata[0].digest == again_.mechanism.strata[1].digest
    assert main(["kit", zipped, "-o", str(tmp_path / "kit.zip")]) == 0
    assert main(["audit", str(tmp_path / "kit.zip")]) == 0
    assert main(["compare", str(tmp_path / "design.json")]) == 0
    session = Session.of("known", Configuration())
    exchange.load(session, (tmp_path / "kit.zip").read_bytes())
    assert session.setting.mechanism("optimized").digest == again_.mechanism.digest


def test_a_device_is_not_for_another_split_of_the_columns():
    setting = realise(designed("optimized"))
    content = members(package.kit(setting))
    inputs = json.loads(content["configuration.json"])
    inputs["domain"]["attributes"][2]["known"] = False
    with pytest.raises(ValueError):
        open_kit(packed({**content, "configuration.json": json.dumps(inputs).encode()}))
    inputs["domain"]["attributes"][0]["known"] = False  # no column is known any more, and the strategy is for 6 types
    with pytest.raises(ValueError, match="optimise again"):
        designs.load(packed({**content, "configuration.json": json.dumps(inputs).encode()}))
    whole = realise(
        setting.configuration.with_(
            domain=Domain(attributes=[a.model_copy(update={"known": False}) for a in (ARM, SCORE, REGION)])
        )
    )
    kept = members(package.design(whole.configuration, {}, whole.chosen_mechanism))
    with pytest.raises(ValueError, match="each group that the collector knows has 6: optimise again"):
        designs.load(packed({**kept, "configuration.json": setting.configuration.to_json()}))
    description = devices.describe(setting.chosen_mechanism, "2.0", setting.domain)
    assert description["sampler"]["sizes"] == [6, 6]
