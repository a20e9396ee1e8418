"""The line of a question: what it is now, its error, the verdict, and its error alone; and the picture of these lines, which is drawn three times."""

import math

import numpy as np
import pytest

from ldp_core import analysis, charts, mechanisms, verdicts
from ldp_core.data.domain import CategoricalAttribute, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.deploy.kit import package
from ldp_core.deploy.kit.opening import open_kit
from ldp_core.designs import Configuration, MechanismRecipe, Optimizer, Population, WorkloadRecipe
from ldp_core.designs.standalone import ready
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    MarginalsPart,
    MeanPart,
    PrefixPart,
    SharePart,
    over_attributes,
)

ARM = CategoricalAttribute(name="arm", values=("control", "new"), known=True)
REGION = CategoricalAttribute(name="region", values=("North", "East", "South"))
HAPPY = CategoricalAttribute(name="happy", values=("no", "yes"))
SCORE = RangeAttribute(name="score", low=1, high=8, bins=8, integer=True)
ALL = (ARM, REGION, HAPPY, SCORE)
MEAN, SHARE = MeanPart(attribute="score"), HistogramPart(attribute="happy")
OVER = {"attribute": "arm", "first": "new", "second": "control"}
PARTS = (
    DifferencePart(of=MEAN, **OVER),
    SharePart(of=SHARE, within=("arm",)),
    SharePart(of=HistogramPart(attribute="score"), within=("region",)),
    HistogramPart(attribute="score"),
)
PEOPLE = np.random.default_rng(5).multinomial(20_000, np.random.default_rng(4).dirichlet(np.full(96, 4.0)))


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture(scope="module")
def asked():
    return over_attributes(PARTS, ALL, counts=PEOPLE)


@pytest.fixture(scope="module")
def mechanism(asked):
    return mechanisms.create("optimized", workload=asked, epsilon=1.0, max_rounds=5, time_limit=None)


def test_a_line_has_one_order_and_says_nothing_that_is_not_known(asked, mechanism):
    told = analysis.question_lines(mechanism, asked, PEOPLE)
    first, _, third, _ = told.to_dict("records")
    assert plain(first["in_words"]) == (
        f"Average of score, new minus control: now {verdicts.value_in_words(first['value'], first['unit'])}; with 20,000 people ± "
        f"{first['standard_error']:.3g}, finds {first['finds']:.3g} and more ({verdicts.marked(first['verdict'])}); asked alone ± {first['alone']:.3g}."
    )
    assert plain(third["in_words"]) == (
        f"Histogram of score, as shares of each region (24 answers): with 20,000 people up to ± {third['standard_error']:.3g} points "
        f"({third['usable']} of 24 usable); asked alone ± {third['alone']:.3g}."
    )
    assert list(verdicts.line_cells(first)) == ["Question", "Now", "With 20,000 people", "Verdict", "Asked alone"]
    without = analysis.question_lines(mechanism, asked)
    assert "now" not in without["in_words"][0]
    assert without["value"].isna().all()
    single = over_attributes(PARTS[:1], ALL, counts=PEOPLE)
    line = analysis.question_lines(mechanism, single, PEOPLE)["in_words"][0]
    assert "alone" not in line  # nothing else is asked


@pytest.mark.parametrize(("case", "epsilon"), [("worst_case", 1.0), ("average", 0.5), ("people", 3.0)])
def test_alone_no_error_is_below_what_is_proved_nor_far_above_what_others_leave(asked, case, epsilon):
    cases = {
        "worst_case": analysis.WORST_CASE,
        "average": analysis.average_case(96),
        "people": analysis.Case("people", PEOPLE / PEOPLE.sum()),
    }
    together = mechanisms.create("optimized", workload=asked, epsilon=epsilon, max_rounds=5, time_limit=None)
    told = analysis.question_lines(together, asked, PEOPLE, cases[case])
    for line, among in zip(asked.questionnaire.lines, told["standard_error"], strict=True):
        found, at_best = analysis.alone(asked.questionnaire, line, epsilon, PEOPLE, cases[case])
        least, proved = analysis.alone(asked.questionnaire, line, epsilon, PEOPLE, cases[case], search=False)
        assert (at_best, proved) == (False, True)
        assert least > 0 or epsilon > 1
        assert not least > found * (1 + 1e-9)  # NaN where nothing is proved
        assert found <= 1.15 * among  # a short search, and of the mean over the answers


def test_what_takes_long_alone_is_at_best_what_is_proved():
    wide = RangeAttribute(name="age", low=0, high=200, bins=200)
    asked = over_attributes([PrefixPart(attribute="age"), MeanPart(attribute="age")], [wide])
    people = np.full(200, 50)
    line = asked.questionnaire.lines[0]
    error, at_best = analysis.alone(asked.questionnaire, line, 1.0, people)
    assert at_best
    fitted = mechanisms.create("optimized", workload=line.workload, epsilon=1.0, max_rounds=20, time_limit=None)
    alone = over_attributes([PrefixPart(attribute="age")], [wide])
    assert 0.5 < error / analysis.answers(fitted, alone, people)["standard_error"].max() < 1
    told = analysis.question_lines(fitted, asked, people)
    assert f"asked alone at best ± {error:.3g}." in plain(told["in_words"][0])


def test_a_group_is_that_of_the_name_whatever_is_asked_in_it(asked, mechanism):
    parts = [MeanPart(attribute="score", by=("arm",)), PrefixPart(attribute="score", by=("region", "arm"))]
    parts += [
        MarginalsPart(groups=[("happy", "score")], by=("region",)),
        DifferencePart(of=SHARE, by=("region",), **OVER),
    ]
    more = over_attributes(parts, ALL, counts=PEOPLE)
    for told in (analysis.answers(mechanism, asked, PEOPLE), analysis.answers(mechanism, more, PEOPLE)):
        for name, group, question in zip(told["name"], told["group"], told["question"], strict=True):
            if not group:
                assert not any(f"{axis.name} {value}" in name for axis in (ARM, REGION) for value in axis.values), (
                    question
                )
            for label in filter(None, group.split(", ")):
                axis = ARM if label in ARM.values else REGION
                assert f"{axis.name} {label}" in name
    assert {"North, control", "South, new"} <= set(told["group"])


def test_three_pictures_of_one_design_agree(tmp_path):
    """What a design promises, what one collection might give, and what a kit makes of reports: the same rows in the same order and
    units, axes that reach as far, and intervals as wide."""
    written = Configuration(
        domain={"attributes": ALL},
        population=Population(users=19_200, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=PARTS),
        epsilon="1",
        mechanism=MechanismRecipe(name="optimized"),
        optimizer=Optimizer(max_rounds=4),
    )
    setting = ready(written)
    made = setting.build("optimized")
    promise = charts.promised(setting.answered(made), setting.lines(made))
    might = collector.release(made, setting.workload, setting.counts, seed=3)
    kit = open_kit(package.kit(setting))
    reports = tmp_path / "reports.csv"
    reports.write_bytes(collector.simulated(kit.mechanism, kit.design, setting.counts, seed=1))
    got = collector.answers(collector.collect([reports], kit.mechanism, kit.design), kit.mechanism, kit.workload)
    pictures = [charts.result(promise), charts.result(might, like=promise), charts.result(got, like=promise)]
    for column in ("line", "query", "question", "name", "group", "unit"):
        assert promise[column].tolist() == might[column].tolist() == got[column].tolist()
    for shown in (might, got):
        ratio = ((shown["high"] - shown["low"]) / (promise["high"] - promise["low"])).groupby(shown["line"]).mean()
        assert ratio.to_numpy() == pytest.approx(1, abs=0.12)
    first = pictures[0]
    for other in pictures[1:]:
        assert other.layout.height == pytest.approx(first.layout.height, abs=120)  # a line of a heading more or less
        assert [trace.type for trace in other.data if trace.type == "bar"] == ["bar"] * 4
        for mine, own in zip(first.select_xaxes(), other.select_xaxes(), strict=True):
            assert (mine.ticktext, mine.ticksuffix, mine.tickvals) == (own.ticktext, own.ticksuffix, own.tickvals)
            low, high = mine.range
            assert own.range[0] <= low + 1e-9
            assert own.range[1] >= high - 1e-9
            assert own.range[1] - own.range[0] <= 1.5 * (high - low)


def test_a_result_in_words_is_the_answer_its_interval_and_what_follows(asked, mechanism):
    might = collector.release(mechanism, asked, PEOPLE, seed=1)
    first = might[might["line"] == 0]
    (row,) = first.to_dict("records")
    said = plain(verdicts.result_in_words(first))
    ends = [verdicts.value_in_words(row[end], row["unit"]) for end in ("low", "high")]
    assert (
        said == f"{verdicts.value_in_words(row['answer'], row['unit'])} (95 %: {ends[0]} to {ends[1]}), {row['found']}"
    )
    assert plain(verdicts.result_in_words(first.assign(low=math.nan, found=""))).endswith(
        f"(no interval), {verdicts.marked(row['verdict'])}"
    )
    many = might[might["line"] == 3]
    assert plain(verdicts.result_in_words(many)).endswith(f"{(many['verdict'] == 'usable').sum()} of 8 usable")
