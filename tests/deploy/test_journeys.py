"""Every kind of question with every mechanism, from a design to answers: the kit is opened in every way, 300 reports of its own client
are collected, and the answers and their errors are those that the design promised."""

import csv
import json
import math
import runpy
import zipfile

import numpy as np
import pandas as pd
import pytest

from ldp_core import library
from ldp_core.data.domain import (
    CategoricalAttribute,
    ChoiceAttribute,
    CombinedAttribute,
    CourseAttribute,
    Domain,
    NumericAttribute,
    RankingAttribute,
)
from ldp_core.deploy.commands import main
from ldp_core.deploy.kit import devices, package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.fits import Fit
from ldp_core.designs.standalone import ready, realise
from ldp_core.optimize import strategy
from ldp_core.optimize.closed_form import candidates
from ldp_core.people import Records
from ldp_core.workloads import (
    AllMarginalsPart,
    BeforePart,
    DaysPart,
    DifferencePart,
    HistogramPart,
    ItemsPart,
    JointHistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    MatrixPart,
    MeanPart,
    MeanRankPart,
    MomentsPart,
    NumberOfItemsPart,
    PairsOfItemsPart,
    ParityPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
    RangesPart,
    RectanglesPart,
    SharePart,
    SlopePart,
    TotalPart,
    TypesPart,
)
from ldp_core.workloads.answers import ratios_of
from pages.ui.session import exchange
from pages.ui.session.history import History, SavedDesigns
from pages.ui.session.state import Session
from tests.deploy.kit.javascript import by_node, needs_node

PEOPLE = 300


def labels(name, size):
    return CategoricalAttribute(name=name, values=tuple(f"{name} {k}" for k in range(size)), origin="declared")


def bins(name, size):
    return NumericAttribute(name=name, edges=tuple(10 * k for k in range(size + 1)), origin="declared")


PAIR, GRID, BITS = (labels("a", 5), labels("b", 4)), (bins("x", 4), bins("y", 4)), tuple(labels(k, 2) for k in "pqrs")
KNOWN = labels("arm", 2).model_copy(update={"known": True})
WAY = ChoiceAttribute(name="way", items=("bus", "car", "walk", "bike"), most=2)
FEW = ChoiceAttribute(name="way", items=("bus", "car"), most=2)  # none is so rare that its interval may lie below 0
DISH = RankingAttribute(name="dish", items=("soup", "fish", "rice"))
WEEK = CourseAttribute(of=CategoricalAttribute(name="used", values=("no", "yes")), days=5, changes=1)
MANY = tuple(labels(f"q{k}", 8) for k in range(7))  # more combinations than a vector is kept over
SURVEYED = (
    labels("region", 4).model_copy(update={"known": True}),
    *(labels(f"q{k}", size) for k, size in enumerate((6, 9, 7, 9))),
)
QUESTIONS = {
    "two types": ((labels("a", 2),), HistogramPart(attribute="a")),
    "four types": ((labels("a", 4),), HistogramPart(attribute="a")),
    "seven types, weighted": ((labels("a", 7),), HistogramPart(attribute="a", weight=3.0)),
    "1,500 types": ((labels("a", 1500),), HistogramPart(attribute="a")),
    "bins": ((bins("x", 9),), HistogramPart(attribute="x")),
    "one of two columns": (PAIR, HistogramPart(attribute="b")),
    "both columns": (PAIR, HistogramPart(attribute="a"), HistogramPart(attribute="b", weight=2.0)),
    "joint table": (PAIR, JointHistogramPart()),
    "running totals": ((bins("x", 12),), PrefixPart(attribute="x")),
    "running totals and bins": ((bins("x", 8),), PrefixPart(attribute="x"), HistogramPart(attribute="x")),
    "ranges": ((bins("x", 8),), RangesPart(attribute="x")),
    "ranges of one width by a column": ((bins("x", 6), labels("b", 3)), RangesPart(attribute="x", width=2, by=("b",))),
    "rectangles": (GRID, RectanglesPart(attributes=("x", "y"))),
    "table of two columns of three": ((*PAIR, labels("c", 2)), MarginalsPart(groups=[("a", "c")])),
    "all pairs": (BITS, KWayMarginalsPart(k=2)),
    "all tables": (BITS, AllMarginalsPart()),
    "parities": (BITS, ParityPart(max_weight=2)),
    "conditions": (PAIR, PredicatesPart(predicates=[Predicate(expression="a in {'a 1', 'a 2'} or b = 'b 3'")])),
    "a matrix": ((labels("a", 4),), MatrixPart.of(np.array([[1.0, 2, 0, -1], [0, 1, 1, 0.5]]))),
    "a contrast": ((labels("a", 7),), MatrixPart.of(np.array([[1.0, -1, 0, 0, 0, 0, 0]]))),
    "a mean": ((bins("x", 9),), MatrixPart.of(np.arange(9.0)[None] + 0.5)),
    "an average": ((bins("x", 9),), MeanPart(attribute="x")),
    "a total and a column": (
        (bins("x", 5), labels("b", 3)),
        TotalPart(attribute="x", weight=2.0),
        HistogramPart(attribute="b"),
    ),
    "differences by a known column": (
        (KNOWN, bins("x", 6), labels("b", 3)),
        DifferencePart(of=PrefixPart(attribute="x"), attribute="arm", first="arm 0", second="arm 1"),
        HistogramPart(attribute="b"),
    ),
    "numbers of people compared": (
        (KNOWN, labels("b", 3)),
        DifferencePart(of=HistogramPart(attribute="b"), attribute="arm", first="arm 0", second="arm 1", shares=False),
    ),
    "averages of known groups, and shares": (
        (KNOWN, bins("x", 4), labels("b", 2)),
        MeanPart(attribute="x", by=("arm",)),
        SharePart(of=HistogramPart(attribute="b"), within=("arm",), weight=2.0),
        MeanPart(attribute="x"),
    ),
    "shares and averages of secret groups": (
        (labels("g", 2), bins("x", 4)),
        SharePart(of=PrefixPart(attribute="x"), within=("g",)),
        MeanPart(attribute="x", by=("g",)),
    ),
    "secret groups compared": (
        (labels("g", 2), labels("b", 3)),
        DifferencePart(of=HistogramPart(attribute="b"), attribute="g", first="g 0", second="g 1"),
    ),
    "several items": ((WAY,), ItemsPart(attribute="way"), NumberOfItemsPart(attribute="way", weight=2.0)),
    "pairs of items by a known column": (
        (KNOWN, FEW),
        PairsOfItemsPart(attribute="way"),
        SharePart(of=ItemsPart(attribute="way"), within=("arm",)),
    ),
    "a ranking": (
        (DISH,),
        MeanRankPart(attribute="dish"),
        BeforePart(attribute="dish"),
        ItemsPart(attribute="dish"),
    ),
    "several days": ((WEEK,), DaysPart(attribute="used")),
    "several days by a secret group": (
        (WEEK, labels("g", 2)),
        SharePart(of=DaysPart(attribute="used"), within=("g",)),
    ),
    "moments": (GRID, MomentsPart(attributes=("y", "x"))),
    "slopes on known columns": (
        (KNOWN, bins("x", 4), labels("b", 2), bins("y", 3).model_copy(update={"known": True})),
        SlopePart(of="b", on=("arm", "y")),
        SlopePart(of="x", on=("arm",), weight=2.0),
    ),
    "rectangles by a known column": ((KNOWN, *GRID), RectanglesPart(attributes=("x", "y"), by=("arm",))),
    "totals by a known column": ((KNOWN, bins("x", 8)), TotalPart(attribute="x", by=("arm",))),
    "ranges of types": (PAIR, TypesPart(family="all_range")),
    "pairs of many columns": (MANY, KWayMarginalsPart(k=2)),
    "shares of a secret group, of many": (
        (bins("x", 12), *MANY),
        SharePart(of=PrefixPart(attribute="x"), within=("q0",)),
        KWayMarginalsPart(k=1),
    ),
    "pairs and totals of many": ((bins("x", 12), *MANY), KWayMarginalsPart(k=2), PrefixPart(attribute="x", weight=9.0)),
    "pairs of four secret columns beside a known one": (SURVEYED, KWayMarginalsPart(k=2)),
    "shares within known groups, of many": (
        (bins("x", 12), KNOWN, *MANY),
        SharePart(of=HistogramPart(attribute="q0"), within=("arm",)),
        SharePart(of=PrefixPart(attribute="x"), within=("arm",)),
        MeanPart(attribute="x", by=("arm",)),
    ),
    "known groups with designs of their own, of many": (
        (*MANY[:4], KNOWN, bins("x", 12), *MANY[4:]),
        MarginalsPart(groups=[("q0", "q1"), ("arm", "q5")]),
        PredicatesPart(predicates=[Predicate(expression="arm = 'arm 1' and q2 = 'q2 3' and x < 50")]),
        HistogramPart(attribute="arm"),
        MeanPart(attribute="x"),
    ),
    "known groups compared, of many": (
        (KNOWN, *MANY),
        DifferencePart(of=HistogramPart(attribute="q3"), attribute="arm", first="arm 0", second="arm 1"),
        KWayMarginalsPart(k=1),
    ),
}
NO_DEVICE = [name for name, spec in library.REGISTRY.items() if spec.continuous]
MECHANISMS = [name for name in library.names() if name not in NO_DEVICE]
USUAL = {"optimized", "subset_selection"}
"""Mechanisms that are tried with every question by default; each of the others with some."""
WITHOUT_TABLE = {*USUAL, "randomized_response", "oue", "rappor", "olh"}
"""Those tried with many types: the tables of others do not fit."""
CELLS = [
    (question, name)
    for question in QUESTIONS
    for name in MECHANISMS
    if question != "1,500 types" or name in WITHOUT_TABLE
]
STEP = 7


def marked():
    for k, (question, name) in enumerate(CELLS):
        slow = () if name in USUAL or k % STEP == 0 else pytest.mark.slow
        yield pytest.param(question, name, k % 3 == 0, id=f"{question}-{name}", marks=slow)


def designed(question, name) -> Configuration:
    attributes, *parts = QUESTIONS[question]
    return Configuration(
        domain=Domain(attributes=attributes),
        population=Population(users=PEOPLE, origin="declared", shape="zipf" if "many" not in question else "uniform"),
        workload=WorkloadRecipe(parts=tuple(parts)),
        epsilon="2.0",
        mechanism=MechanismRecipe(name=name),
        optimizer=Optimizer(max_rounds=2),
    )


def own_matrix():
    """Randomized response on six bins, in a supplied matrix."""
    share = 1 / (math.e**2 * (1 - 1e-9) + 5)
    rows = (np.full((6, 6), share) + np.eye(6) * (1 - 6 * share)).tolist()
    matrix = library.own.packed("\n".join(",".join(map(repr, row)) for row in rows).encode(), 6)
    return designed("bins", "optimized").with_(
        domain=Domain(attributes=(bins("x", 6),)),
        workload=WorkloadRecipe(parts=(HistogramPart(attribute="x"), PrefixPart(attribute="x"))),
        mechanism=MechanismRecipe(name="own", parameters={"matrix": matrix}),
    )


def tree_of_shares():
    """A tree of local hashing whose levels are picked by the best shares."""
    told = {"branching": 3, "oracle": "olh", "reconstruction": "consistent", "shares": "fitted"}
    return designed("running totals", "hierarchical").with_(
        mechanism=MechanismRecipe(name="hierarchical", parameters=told)
    )


@pytest.mark.parametrize("made", [own_matrix, tree_of_shares])
def test_a_matrix_of_ones_own_and_parameters_come_back_as_answers(made, tmp_path):
    collected(realise(made()), tmp_path)


def said(domain, row):
    """A value as a person says it."""
    return {one.name: said_of(one, k) for one, k in zip(domain.attributes, row, strict=True)}


def said_of(attribute, k):
    """A value; items, a ranking or the value of each day as a list."""
    if not isinstance(attribute, CombinedAttribute):
        return attribute.edges[k] if isinstance(attribute, NumericAttribute) else attribute.values[k]
    row = attribute.members[k].tolist()
    if attribute.holds == "set":
        return [item for item, chosen in zip(attribute.items, row, strict=True) if chosen][::-1]
    if attribute.holds == "ranking":
        return sorted(attribute.items, key=lambda item: row[attribute.items.index(item)])
    return [attribute.parts[value] for value in row]


def people_of(shape, seed):
    rng = np.random.default_rng(seed)
    return np.minimum(rng.geometric(0.4, size=(PEOPLE, len(shape))) - 1, np.array(shape) - 1)


def reports_of(folder, domain, values, node):
    """Reports drawn by the client in a kit's folder, by the randomness of the system."""
    described = json.loads((folder / "device.json").read_text())
    people = [said(domain, row) for row in values.tolist()]
    if node:
        (drawn,) = by_node(devices=[described], secure=[[0, people]])["secure"]
        return drawn["answer"]
    device = runpy.run_path(str(folder / "client.py"))["Device"](described)
    return [device.report(value) for value in people]


def unpacked(content, folder):
    (folder / "kit.zip").write_bytes(content)
    with zipfile.ZipFile(folder / "kit.zip") as archive:
        archive.extractall(folder / "kit")
    return folder / "kit"


def reach(made, workload, spread, scale):
    """What answers miss by with next to no probability: six standard errors, and by Bernstein's inequality six times what one report can add
    where few reports decide. Of the thousands of answers of a survey, each from few reports, one in a hundred collections missed by six."""
    if made.survey is not None:
        return 9 * spread
    adds = made.query_contributions(workload, np.arange(workload.num_queries))
    part = scale * np.maximum(adds.up, adds.down)
    return 6 * (spread + np.where(part > spread / 10, part, 0.0))


def collected(setting, folder, node=False, seed=0):
    """The scores of all answers: their distance from the truth in standard errors of the design."""
    content = package.kit(setting)
    kit_folder = unpacked(content, folder)
    made, domain = setting.chosen_mechanism, setting.domain
    zipped, opened = open_kit(content), open_kit(kit_folder)
    assert zipped.mechanism.digest == opened.mechanism.digest
    session = Session("journeys", SavedDesigns(History(Configuration())))
    exchange.load(session, content)
    assert session.setting.mechanism(setting.chosen).digest == opened.mechanism.digest
    assert not [text for kind, text in session.notices if kind == "warning" and "lacks" in text]

    values = people_of(domain.shape, seed)
    with (folder / "reports.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "report"])
        drawn = reports_of(kit_folder, domain, values, node)
        writer.writerows([f"{k:032x}", report] for k, report in enumerate(drawn))
    answers = []
    for place in ("kit.zip", "kit"):
        out = folder / "answers.csv"
        assert main(["collect", str(folder / place), str(folder / "reports.csv"), "-o", str(out)]) == 0
        answers.append(pd.read_csv(out))
    pd.testing.assert_frame_equal(*answers)
    told = answers[0]

    many = domain.size > 10**6
    people = (
        Records(values, domain.shape)
        if many
        else np.bincount(np.ravel_multi_index(values.T, domain.shape), minlength=domain.size)
    )
    outcome, asked = json.loads((kit_folder / "outcome.json").read_text()), setting.answers
    if outcome["questions"] is not None:
        needed = outcome["users_needed"][setting.case]
        assert needed == setting.users_needed(made, setting.case) == pytest.approx(zipped.needed, rel=1e-9)
        assert [one["question"] for one in outcome["questions"]] == [line.title for line in asked.lines]
    assert (
        told["adds_up_to"].isna().all()
        or told["adds_up_to"].iloc[0] == pytest.approx(PEOPLE)
        or made.consistent is not made
    )
    scores = []
    for k, line in enumerate(asked.lines):
        own, queries = told[told["line"] == k], np.arange(line.workload.num_queries)
        assert own["query"].tolist() == queries.tolist()
        assert own["name"].tolist() == [line.workload.query_name(query) for query in queries]
        assert set(own["unit"]) == {line.key}
        worst = outcome["questions"] and setting.case == "worst_case" and outcome["questions"][k]["standard_error"]
        scores.append(missed_by(line, own, made, people, setting.workload.survey is not None, worst))
    return np.concatenate(scores)


def missed_by(line, told, made, people, survey, worst):
    """The distance of the answers to a question from the truth in standard errors; of those that are usable, in secret groups."""
    many, errors = PEOPLE if line.unit.total else 1, told["standard_error"].to_numpy()
    if line.group_question is not None:
        parts = ratios_of(line.group_question, survey)
        exact = np.concatenate([own.values(own.linear.answers(people)) for own in parts])
        told = told.assign(missed=np.abs(told["answer"] - exact), errors=errors)
        if line.group_sizes is None:
            spread = np.concatenate([np.sqrt(errors_of(made, own, people)) for own in parts])
            assert (told["missed"] <= reach(made, line.workload, spread, line.unit.factor / PEOPLE) + 1e-6).all()
            assert np.isfinite(told["low"]).all()
        unlike = told["low"].isna() | (told["verdict"] == "noise")
        assert not told["verdict"][told["low"].isna()].isin(["usable", "rough"]).any()
        usable = told[~unlike & (errors > 1e-6)]
        assert (usable["missed"] < 9 * usable["errors"]).all()
        return (usable["missed"] / usable["errors"]).to_numpy()
    weights, scale = line.workload.query_weights(), many * line.unit.factor / PEOPLE
    exact = many * line.unit.middle + scale * line.workload.answers(people) / weights
    spread = scale * np.sqrt(np.maximum(made.query_variances(line.workload, people), 0.0)) / weights
    missed = np.abs(told["answer"].to_numpy() - exact)
    assert (missed <= reach(made, line.workload, spread, scale / weights) + 1e-6 * many * line.unit.factor).all()
    assert (told["promised"].to_numpy() >= spread - 1e-6 * many * line.unit.factor).all()
    assert not worst or spread.max() <= worst * (1 + 1e-6)
    return missed[spread > 1e-6] / spread[spread > 1e-6]


def errors_of(made, asked, people):
    """(q,) the variances of answers in known groups, from the people of each."""
    rows = asked.errors(asked.linear.answers(people))
    return np.maximum(made.query_variances(rows, people), 0.0)


@pytest.mark.promise
@needs_node
@pytest.mark.parametrize(("question", "name", "node"), list(marked()))
def test_reports_of_a_kit_come_back_as_answers(question, name, node, tmp_path):
    chosen = designed(question, name)
    setting = ready(chosen)
    reason = library.spec(name).unsuitable(setting.domain.size, setting.epsilon, setting.workload)
    if reason is None:
        setting = realise(chosen)
        reason = setting.chosen_mechanism.supports(setting.workload)
    if reason is None:
        collected(setting, tmp_path, node)
    else:  # a mechanism for other questions, which the design says before anything is sent out
        assert name != "optimized"
        assert reason.endswith(".")


@pytest.mark.parametrize("question", ["four types", "bins", "one of two columns", "running totals"])
def test_a_search_that_came_to_a_closed_form_is_built_again_from_what_the_file_records(question, tmp_path):
    """Kits hold the parameters of the closed form and nothing else of it, as they always did."""
    setting = ready(designed(question, "optimized"))
    classes = library.classes_for(library.spec("optimized"), setting.workload, setting.epsilon)
    for k, made in enumerate(candidates(setting.fitted_types, setting.epsilon)):
        whole = made if classes is None else library.in_classes.about_classes(made, setting.workload, classes)
        setting._keep("optimized", Fit(whole, ()))
        folder = tmp_path / str(k)
        folder.mkdir()
        collected(setting, folder)


@pytest.mark.promise
@needs_node
@pytest.mark.parametrize("node", [False, True])
def test_a_kit_whose_table_is_sent_in_bits_comes_back_as_answers(node, tmp_path, monkeypatch):
    for module in (devices, strategy):
        monkeypatch.setattr(module, "MOST_DEVICE_ENTRIES", 0)
    collected(realise(designed("running totals", "optimized")), tmp_path, node)
    assert json.loads((tmp_path / "kit" / "device.json").read_text())["sampler"]["kind"] == "two_valued"


def test_errors_are_those_that_the_design_said(tmp_path):
    """Scores of all answers of some cells together: as large as standard errors say, no larger and no smaller."""
    scores = []
    for question, name in (("bins", "optimized"), ("running totals", "hierarchical"), ("joint table", "oue")):
        for seed in range(3):
            folder = tmp_path / f"{name}{seed}"
            folder.mkdir()
            scores.append(collected(realise(designed(question, name)), folder, seed=seed))
    joined = np.concatenate(scores)
    assert 0.7 < np.sqrt(np.mean(joined**2)) < 1.35  # 133 answers, some of them correlated
