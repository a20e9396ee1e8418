"""Answers about two or more columns as tables: every answer is in the cell that its name says, and nothing else is."""

import numpy as np
import pandas as pd
import pytest

from ldp_core import analysis, charts, mechanisms, verdicts
from ldp_core.data.domain import CategoricalAttribute, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.workloads import (
    AllMarginalsPart,
    DifferencePart,
    HistogramPart,
    JointHistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    MeanPart,
    PrefixPart,
    SharePart,
    answer_tables,
    over_attributes,
)

MODE = CategoricalAttribute(name="mode", values=("car", "bus", "foot"))
INCOME = RangeAttribute(name="income", low=0, high=79, bins=8, integer=True)
REGION = CategoricalAttribute(name="region", values=("North", "South"))
ONE = CategoricalAttribute(name="one", values=("only",))
DOMAIN = [MODE, ONE, INCOME, REGION]
OVER = {"attribute": "region", "first": "North", "second": "South"}
PAIR = MarginalsPart(groups=[("income", "mode")])


def told(part, known=()):
    """The answers to a question, each with its name, and its tables."""
    domain = [a.model_copy(update={"known": a.name in known}) for a in DOMAIN]
    asked = analysis.questionnaire_of(over_attributes([HistogramPart(attribute="mode"), part], domain))
    line = asked.lines[1]
    queries = np.arange(line.workload.num_queries)
    names = [line.workload.query_name(query) for query in queries]
    return pd.DataFrame({"line": 1, "query": queries, "name": names}), answer_tables(asked)


@pytest.mark.parametrize(
    ("part", "titles"),
    [
        (KWayMarginalsPart(k=2), ["mode x income", "mode x region", "income x region"]),
        (AllMarginalsPart(), ["mode x income", "mode x region", "income x region", "mode x income x region"]),
        (PAIR, ["income x mode"]),
        (JointHistogramPart(), ["mode x income x region"]),
        (PAIR.model_copy(update={"by": ("region",)}), ["income x mode x region"]),
        (SharePart(of=PAIR, within=("region",)), ["income x mode x region"]),
        (PrefixPart(attribute="income", by=("region",)), []),  # side by side
        (DifferencePart(of=HistogramPart(attribute="income"), **OVER, by=("mode",)), []),
        (DifferencePart(of=HistogramPart(attribute="income"), **OVER), []),
        (MeanPart(attribute="income"), []),
        (MeanPart(attribute="income", by=("region", "mode")), []),  # six averages, one below the other
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
@pytest.mark.parametrize("known", [(), ("region",)], ids=["secret", "known"])
def test_each_answer_is_in_the_cell_that_its_name_says(part, titles, known):
    found, tables = told(part, known)
    assert [table.title() for table in tables] == titles
    for table in tables:
        whole = table.cells(found, {})
        assert len(whole) == np.prod([len(labels) for _, labels in table.sides])
        further = {side: len(table.sides[side][1]) - 1 for side in range(2, len(table.sides))}
        cells = table.cells(found, further)
        names = [table.sides[side][0] for side in table.drawn]
        assert len(cells) == np.prod([len(table.sides[side][1]) for side in table.drawn])
        for row in cells.itertuples():
            labels = {names[0]: row.row, names[1]: row.column}
            labels |= {table.sides[side][0]: table.sides[side][1][label] for side, label in further.items()}
            assert all(f"{label}" in row.name for label in labels.values())
            assert all(f"{name} {label}" in row.name for name, label in labels.items() if name != "region")


def test_a_table_and_its_download_hold_the_answers_of_a_collection():
    people = np.random.default_rng(3).multinomial(9_000, np.full(48, 1 / 48))
    workload = over_attributes([KWayMarginalsPart(k=2)], DOMAIN, counts=people)
    found = collector.release(mechanisms.create("hadamard", workload=workload, epsilon=3.0), workload, people)
    assert (found["standard_error"] <= found["promised"] * (1 + 1e-9)).all()
    table = answer_tables(workload.questionnaire)[0]
    cells = table.cells(found, {})
    by_name = found.set_index("name")
    wide = table.wide(cells)
    assert wide["income"].tolist() == list(INCOME.labels)
    fig = charts.table(cells)
    (answers,) = fig.select_traces("heatmap")  # few columns: errors are written beside answers
    for i, label in enumerate(INCOME.labels):
        for j, mode in enumerate(MODE.values):
            own = by_name.loc[f"mode {mode} and income {label}"]
            assert wide.loc[i, [mode, f"{mode} ±", f"{mode} verdict"]].tolist() == [
                own["answer"],
                own["standard_error"],
                own["verdict"],
            ]
            assert answers.z[i][j] == own["answer"]
            assert answers.text[i][j].startswith(verdicts.MARKS[own["verdict"]]) == (own["verdict"] != verdicts.USABLE)


def test_a_wide_table_has_a_map_of_its_errors():
    wide = RangeAttribute(name="age", low=0, high=11, bins=12, integer=True)
    workload = over_attributes([KWayMarginalsPart(k=2)], [INCOME, wide])
    people = np.full(96, 100)
    found = collector.release(mechanisms.create("hadamard", workload=workload, epsilon=3.0), workload, people)
    (table,) = answer_tables(workload.questionnaire)
    cells = table.cells(found, {})
    answers, errors = charts.table(cells.sample(frac=1, random_state=0)).select_traces("heatmap")
    assert np.allclose(np.array(errors.z), cells.pivot(index="row", columns="column", values="standard_error"))
    assert errors.zmin == 0
    assert np.array(answers.z).shape == (12, 8)
