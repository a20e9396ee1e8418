"""By default, files are the same for every table with the same number of people; figures of the counts leave on request only."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ldp_core import designs, frames
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import package
from ldp_core.designs import (
    Configuration,
    MechanismRecipe,
    Optimizer,
    Population,
    WorkloadRecipe,
    disclosure,
    ready,
    strict_json,
)
from ldp_core.people import Counted
from ldp_core.workloads import DifferencePart, HistogramPart, MeanPart, PrefixPart, SharePart
from tests.deploy.kit.kits import members

pytestmark = pytest.mark.usefixtures("no_hurry")

AGES = NumericAttribute(name="age", edges=(0, 20, 40, 60, 80), origin="declared")
COUNTED = Configuration(
    domain=Domain(attributes=(AGES,)),
    population=Population(users=1, origin="data", shape="data"),
    workload=WorkloadRecipe(parts=(PrefixPart(attribute="age"), HistogramPart(attribute="age"))),
    mechanism=MechanismRecipe(name="hierarchical"),
    optimizer=Optimizer(max_rounds=3),
)
COLUMNS = [
    CategoricalAttribute(name=name, values=tuple(map(str, range(size))), ordered=True, origin="declared")
    for name, size in {"x": 12, "y": 16, "z": 17}.items()
]
ONE, OTHER = (317, 402, 93, 188), (1, 2, 990, 7)
MECHANISMS = ("hierarchical", "randomized_response", "optimized_gradient", "optimized", "gaussian")


def table(counts):
    return pd.DataFrame({"age": np.repeat([10, 30, 50, 70], counts)})


def made(configuration, rows=None, proved=True):
    """The setting of these rows, with its mechanism and what can be ``proved`` in the case it is judged in."""
    found = ready(configuration, rows)
    found.build(found.chosen)
    if proved:
        found.prove(found.aim(found.chosen))
    return found


def files(found, figures=False):
    """Every file of a design, by name."""
    c, mechanism, proof = found.configuration, found.chosen_mechanism, package.certificate_of(found)
    shown = disclosure.released(found, figures)
    outcome = package.outcome_of(found, figures)
    leaving = {
        "design": package.design(c, outcome, mechanism, certificate=proof),
        "answers": frames.as_csv(shown.answered(mechanism)).encode(),
    }
    if c.mechanism.name != "gaussian":  # it has no kit
        leaving["kit"] = package.kit(found, proof, figures)
    return leaving


def outcome(content):
    return json.loads(members(content)["outcome.json"])


# --- two tables, one file -----------------------------------------------------------------------------------------------


@pytest.mark.promise
@pytest.mark.crossed
@pytest.mark.parametrize("targets", [None, {"points": 4.0}])
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_leaves_is_the_same_for_every_table_with_as_many_people(name, targets):
    chosen = COUNTED.with_(mechanism=MechanismRecipe(name=name), targets=targets)
    one, other = (made(chosen, table(counts)) for counts in (ONE, OTHER))
    own = one.configuration.targets
    assert (own == targets) == (targets is not None)
    assert (own == other.configuration.targets) == (targets is not None)  # a digit of the data, which is announced
    assert any("one digit of how large" in sentence for sentence in disclosure.observed(one))
    other = made(chosen.with_(targets=own), table(OTHER))
    assert files(one) == files(other)
    exact, others = (files(found, figures=True) for found in (one, other))
    differ = {kind for kind in exact if exact[kind] != others[kind]}
    assert differ >= {"design", "answers"} or name == "gaussian"  # everyone's errors


WITHIN = COUNTED.with_(
    domain=Domain(attributes=(CategoricalAttribute(name="sex", values=("f", "m")), AGES)),
    workload=WorkloadRecipe(
        parts=(
            SharePart(of=PrefixPart(attribute="age"), within=("sex",)),
            DifferencePart(of=HistogramPart(attribute="age"), attribute="sex", first="m", second="f"),
            MeanPart(attribute="age"),
        )
    ),
)


@pytest.mark.parametrize("aim", ["worst_case", "average"])
def test_of_questions_within_groups_two_digits_of_shares_and_sizes_leave_and_are_announced(aim):
    def of(counts):
        rows = table(counts[:4]).assign(sex="f"), table(counts[4:]).assign(sex="m")
        return pd.concat(rows, ignore_index=True)

    chosen = WITHIN.with_(mechanism=MechanismRecipe(name="optimized"), optimizer=Optimizer(max_rounds=3, aim=aim))
    alike = [
        (20_000, 15_000, 10_000, 5_000, 5_000, 10_000, 20_000, 15_000),
        (20_012, 14_999, 9_995, 4_994, 4_990, 10_004, 20_005, 15_001),
    ]
    one, other, third = (made(chosen, of(np.array(counts)), proved=False) for counts in (*alike, alike[0][::-1]))
    assert one.configuration.rates == other.configuration.rates != third.configuration.rates
    assert files(one) == files(other)
    assert any(
        "each share or average in the data and the size of each group, two digits" in told
        for told in disclosure.observed(one)
    )
    even = made(chosen.with_(planning="even"), of(np.array(alike[0])), proved=False)
    assert even.configuration.rates is None
    assert not any("each share or average" in told for told in disclosure.observed(even))
    targets = chosen.with_(planning="even", targets=even.configuration.targets)
    assert files(even) == files(made(targets, of(np.array(alike[0][::-1])), proved=False))


def test_the_number_of_people_is_that_of_the_table_and_said():
    found = made(COUNTED, table(ONE))  # the file said another one
    content = files(found)["kit"]
    assert "The number of people, 1,000, was counted in the data." in outcome(content)["read_off_the_data"]
    assert "<td>1,000</td>" in members(content)["report.html"].decode()


# --- every table that fits ----------------------------------------------------------------------------------------------


def tables(users):
    """Every table of four counts that add up to ``users``."""
    for bars in itertools.combinations(range(users + 3), 3):
        yield np.diff([-1, *bars, users + 3]) - 1


def test_every_table_fits_what_leaves_and_few_fit_what_was_asked_for():
    truth, users = np.array([4, 5, 1, 2]), 12
    found = made(COUNTED.with_(targets={"points": 10.0}), table(truth))

    def having(counts):
        return replace(found, people=Counted(counts, (4,)))

    def written(counts, figures):  # all in a file that could depend on the counts
        return json.dumps(package.outcome_of(having(counts), figures))

    left, asked_for = (written(truth, figures) for figures in (False, True))
    every = list(tables(users))
    assert len(every) == 455
    assert sum(written(counts, False) == left for counts in every) == len(every)
    fits = [counts for counts in every if written(counts, True) == asked_for]
    assert len(fits) < 10, "the figures that are left out tell nothing, so this test could not fail"
    assert any(np.array_equal(counts, truth) for counts in fits)
    assert len({package.kit(having(counts)) for counts in tables(2)}) == 1


# --- what is asked for --------------------------------------------------------------------------------------------------


def test_requested_errors_on_the_data_are_exact_and_announced():
    found = made(COUNTED, table(ONE))
    for kind in ("design", "kit"):
        without, recorded = (outcome(files(found, figures)[kind]) for figures in (False, True))
        assert recorded["questions"] == strict_json.plain(found.lines(found.chosen_mechanism), "")
        assert recorded["users_needed"]["people"] == found.users_needed(found.chosen_mechanism, "people")
        assert recorded["errors_refer_to"] == without["errors_refer_to"] == "whatever people answer"
        assert any("may work out all counts" in sentence for sentence in recorded["read_off_the_data"])
        assert "people" not in without["users_needed"]
        assert any("The counts are not exported" in sentence for sentence in without["read_off_the_data"])
    report = members(files(found, figures=True)["kit"])["report.html"].decode()
    assert "may work out all counts" in report
    assert "people needed, people as counted or expected" in report


def test_a_strategy_fitted_to_the_data_says_so_and_keeps_nothing_back():
    aimed = COUNTED.with_(mechanism=MechanismRecipe(name="optimized"), optimizer=Optimizer(max_rounds=3, aim="people"))
    found = made(aimed, table(ONE))
    assert not disclosure.withheld(found)
    content = files(found)["kit"]
    assert any("exact share of every type" in sentence for sentence in outcome(content)["read_off_the_data"])
    loaded = designs.load(content)
    np.testing.assert_allclose(loaded.mechanism.prior * 1000, ONE)
    assert outcome(content)["errors_refer_to"] == "this data"


def test_people_who_were_declared_are_no_secret():
    declared = COUNTED.with_(population=Population(users=1000, origin="declared", shape="zipf"))
    found = made(declared)
    assert not disclosure.withheld(found)
    recorded = strict_json.plain(package.outcome_of(found), "")
    assert recorded["questions"] == strict_json.plain(found.lines(found.chosen_mechanism), "")
    assert recorded["read_off_the_data"] == []


def test_a_design_opened_without_its_data_is_written_again_as_it_was():
    found = made(COUNTED, table(ONE))
    content = files(found)["design"]
    assert files(made(designs.load(content).configuration))["design"] == content


# --- the command line ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["design", "kit"])
def test_commands_write_errors_on_data_only_where_they_are_told_to(command, tmp_path, capsys):
    (tmp_path / "design.json").write_bytes(COUNTED.with_(targets={"points": 10.0}).to_json())

    def written(counts, *told):
        table(counts).to_csv(tmp_path / "people.csv", index=False)
        output = tmp_path / "out.zip"
        given = [command, "design.json", "--data", "people.csv", "-o", "out.zip"]
        given = [str(tmp_path / one) if "." in one else one for one in given]
        assert main([*given, *told]) == 0, capsys.readouterr().err
        return output.read_bytes()

    assert written(ONE) == written(OTHER)
    exact = written(ONE, "--errors-on-data")
    assert any("may work out all counts" in sentence for sentence in outcome(exact)["read_off_the_data"])
