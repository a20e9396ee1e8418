"""Data and Workload pages for many columns: nothing is asked of the joint domain, and everything works."""

import numpy as np
import pandas as pd
import pytest

from ldp_core.data import tables
from ldp_core.designs import Configuration, DeclaredData, Population, WorkloadRecipe
from ldp_core.people import Records
from ldp_core.workloads import HistogramPart, KWayMarginalsPart
from pages.ui.sources import sample_table
from tests.declared import ADULT as SIZES

LIVES = "working_lives.csv"
PAIRS = sum(a * b for i, a in enumerate(SIZES) for b in SIZES[i + 1 :])


@pytest.fixture
def lives(app):
    return app.sample(LIVES, "data")


def declared(columns, k=2):
    recipes = [
        tables.CategoricalRecipe(column=f"question {i}", categories=tuple(f"answer {j}" for j in range(2 + i % 19)))
        for i in range(columns)
    ]
    people = Population(users=10_000, origin="declared", shape="zipf")
    workload = WorkloadRecipe(parts=(KWayMarginalsPart(k=k),))
    domain = tables.build_domain(recipes)
    return Configuration(data=DeclaredData(recipes=recipes), domain=domain, population=people, workload=workload)


def upload(app, frame):
    return app.upload("people.csv", frame.to_csv(index=False).encode())


def odd_table(rows=2_500):
    rng = np.random.default_rng(0)
    answers = {f"answer {i}": rng.integers(0, 6, rows).astype(str) for i in range(9)}
    gaps = np.where(rng.random(rows) < 0.3, "", rng.choice(["yes", "no"], rows))
    columns = {"person": np.arange(rows), **answers, "gaps": gaps, "same": "x", "empty": ""}
    return pd.DataFrame({**columns, "city": [f"city {j}" for j in rng.permutation(rows)]})


def test_the_joint_domain_is_a_fact_and_pictures_come_from_tables(lives):
    assert isinstance(lives.session.setting.people, Records)
    said = lives.words
    assert "More types than people: ask about a few columns at a time" in said
    assert lives.metric("Types so far") == "1.45 × 10⁹"
    assert "10,000 people, 1.45 × 10⁹ types" in said
    assert lives.metric("People per cell") == "39.1"  # 10,000 people over 16 x 16 ages and schools
    assert "1.45 × 10⁹ types = 16 age × 9 work" in said
    assert "Every value occurs" not in said
    assert not lives.at.warning
    assert not lives.at.error
    lives.enter("selectbox", "data-attribute", 2).enter("selectbox", "data-across", "health")
    frame = sample_table(LIVES)
    bars, cells = lives.charts
    labels = lives.session.setting.domain.attributes[2].labels
    assert bars["data"][0]["y"] == frame["education"].value_counts().reindex(labels).tolist()
    counted = pd.crosstab(frame["health"], frame["education"])
    counted = counted.reindex(index=cells["data"][0]["y"], columns=cells["data"][0]["x"])
    shown = np.array([[int(text.split(" ")[0].replace(",", "")) for text in row] for row in cells["data"][0]["text"]])
    assert np.array_equal(shown, counted.to_numpy())
    empty = int((counted == 0).to_numpy().sum())
    told = (
        f"{100 * empty / 80:.3g} % of the 80 combinations of these two do not occur"
        if empty
        else "Every combination of these"
    )
    assert told in lives.words


def pills(app, *chosen):
    app.control("button_group", "every-tables").set_value(list(chosen)).run()
    return app.check()


def test_every_column_pair_and_triple_are_one_press_each(lives):
    lives.go("workload")
    pills(lives, 1, 2, 3)
    assert [part.k for part in lives.parts] == [2, 1, 3]
    assert lives.workload.num_queries == PAIRS + 93 + sum(
        a * b * c for i, a in enumerate(SIZES) for j, b in enumerate(SIZES[i + 1 :], i + 1) for c in SIZES[j + 1 :]
    )
    assert lives.metric("Sets of columns") == f"{11 + 55 + 165:,}"
    pills(lives, 3)
    assert [part.k for part in lives.parts] == [3]
    pills(lives)
    assert "Please keep at least one kind of questions" in lives.errors[0]
    assert [p.k for p in lives.parts] == [3]
    lives.press("undo")
    assert [part.k for part in lives.parts] == [2, 1, 3]


def test_every_column_in_a_question_of_its_own_is_every_column(app):
    app.load(declared(3, k=1).model_dump(mode="json")).go("workload")
    each = [HistogramPart(attribute=attribute.name) for attribute in app.session.setting.domain.attributes]
    app.session.change(workload=WorkloadRecipe(parts=(KWayMarginalsPart(k=2), *each)))
    app.go("workload")
    assert app.control("button_group", "every-tables").value == [1, 2]
    pills(app, 2)
    assert [part.kind for part in app.parts] == ["k_way_marginals"]
    pills(app, 1, 2)
    assert [part.k for part in app.parts] == [2, 1]


def test_a_question_added_to_a_long_list_is_open(app):
    app.load(declared(4, k=1).model_dump(mode="json")).go("workload")
    each = [HistogramPart(attribute=attribute.name) for attribute in app.session.setting.domain.attributes]
    app.session.change(workload=WorkloadRecipe(parts=tuple(each)))
    app.go("workload")
    assert not [place for place in range(4) if app.has("selectbox", f"group-{place}-questions")]
    app.add("histogram")
    assert [place for place in range(5) if app.has("selectbox", f"group-{place}-questions")] == [4]


def test_more_tables_than_are_counted_are_refused_and_nothing_changes(app):
    app.load(declared(60, k=1).model_dump(mode="json")).go("workload")
    pills(app, 1, 2)
    assert app.metric("Sets of columns") == "1,830"
    pills(app, 1, 2, 3)
    assert "25,000 sets of attributes" in " ".join(app.errors)
    assert [part.k for part in app.parts] == [1, 2]


def test_all_columns_at_one_press_keep_everybody(app):
    frame = odd_table()
    upload(app, frame)
    before = app.configuration
    app.press("data-all")
    names = [recipe.column for recipe in app.configuration.data.recipes]
    assert names == [*(f"answer {i}" for i in range(9)), "gaps"]
    design = app.session.setting
    assert design.users == len(frame)
    assert isinstance(design.people, Records)
    said = app.words
    for sentence in (
        "10 of 14 columns are chosen",
        "person identifies people instead of describing them: it has 2,500 different values.",
        "city identifies people",
        "same has the same value for everyone.",
        "empty is empty.",
        "have no gaps and count as a category of their own",
    ):
        assert sentence in said, sentence
    assert not app.at.warning
    assert not app.at.error
    app.press("undo")
    assert app.configuration == before
    app.press("redo")
    assert [recipe.column for recipe in app.configuration.data.recipes] == names
