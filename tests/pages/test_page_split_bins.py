"""A condition that cuts a bin: the bin can be split there, in one step that keeps the questions and can be undone."""

import numpy as np
import pytest

from ldp_core.limits import MOST_UNDO_STEPS


def asked(app, text):
    app.go("workload").change_kind("predicates")
    return app.enter("text_area", "group-0-conditions", text)


def labels(app, place=0):
    return list(app.configuration.domain.attributes[place].labels)


def label(app):
    return app.at.button(key="group-0-split").label.replace("\\", "")


@pytest.fixture
def declared(app):
    return app.declare(low="18", high="90", bins=24, users="1,000")


def test_a_declared_range_is_split_and_the_question_kept(declared):
    app = asked(declared, "young: x < 20")
    assert "would cut the bin" in app.errors[0]
    assert label(app) == "Split the bin of x at 20"
    steps, before = len(app.session.history.past), app.configuration
    app.press("group-0-split")
    assert not app.errors
    assert labels(app)[:3] == ["[18, 20)", "[20, 21)", "[21, 24)"]
    (part,) = app.parts
    assert [(one.name, one.expression) for one in part.predicates] == [("young", "x < 20")]
    assert app.workload.answers(np.eye(25)[0]).tolist() == [1]
    assert len(app.session.history.past) == min(steps + 1, MOST_UNDO_STEPS + 1)
    app.press("undo")
    assert app.configuration == before
    assert app.session.design().domain.size == 24


def test_bins_of_whole_numbers_in_a_table_are_split_around_a_value(app):
    rows = "".join(f"{20 + i % 60}\n" for i in range(600))
    app.upload("ages.csv", f"age\n{rows}".encode())
    asked(app, "age = 33\nage >= 51")
    assert not {"33", "51"} & set(labels(app))
    app.press("group-0-split")
    assert "33" in labels(app)
    assert {"50", "51"} <= set(labels(app))
    answers = app.workload.answers(app.session.design().counts)
    assert answers.tolist() == [10, 290]
    assert app.session.source is not None
