"""The pictures of the two sides: on one axis, with marks where the numbers are."""

import numpy as np
import pandas as pd
import pytest

from ldp_core import beliefs, charts
from ldp_core.studies import privacy_accuracy

LOOKS = pytest.mark.parametrize("look", [charts.LIGHT, charts.DARK], ids=["light", "dark"])


def curves(epsilon, suspicion=0.5, n=25):
    return beliefs.over_epsilon(suspicion, None, n, np.union1d(privacy_accuracy.epsilons(epsilon), epsilon))


def users(epsilon, count=9):
    at = np.union1d(np.geomspace(0.1, max(5, epsilon), count), epsilon)
    own = pd.DataFrame({"name": "subset_selection", "epsilon": at, "users_needed": 1000 / at**2})
    return pd.concat([own, own.assign(name="centred_svd", users_needed=own["users_needed"] / 3 - 30)])


def texts(figure):
    return [note.text for note in figure.layout.annotations]


@pytest.mark.parametrize("epsilon", [0.05, 12.0])
def test_the_chosen_epsilon_is_a_line_in_both_pictures(epsilon):
    beside = charts.beliefs(curves(epsilon), epsilon, 0.5, "subset_selection", 0.7, 0.1)
    over = charts.users_over_epsilon(users(epsilon), epsilon, 3000)
    for figure in (beside, over):
        lines = [shape for shape in figure.layout.shapes if shape.x0 == shape.x1 == epsilon]
        assert len(lines) == 1
    assert beside.layout.xaxis.range[1] >= epsilon
    assert over.layout.xaxis.range[0] <= np.log10(epsilon) <= over.layout.xaxis.range[1]


def test_marks_stand_on_their_lines_and_say_their_numbers():
    frame = curves(1.0)
    figure = charts.beliefs(frame, 1.0, 0.5, "subset_selection", single=0.6, guess=0.08)
    marks = {trace.text[0]: trace.y[0] for trace in figure.data if trace.text}
    assert marks["73"] == pytest.approx(100 * beliefs.strongest(0.5, 1.0))
    assert marks["60"] == pytest.approx(60)
    assert figure.data[0].y == pytest.approx(100 * frame["belief"])
    assert {"strongest belief", "best guess", "prior"} <= set(texts(figure))
    assert len(charts.beliefs(frame, 1.0, 0.5, "gaussian").data) == 4  # nothing known of the mechanism


def test_the_line_of_users_and_the_region_out_of_reach_are_there():
    figure = charts.users_over_epsilon(users(1.0), 1.0, 3000)
    assert "your 3,000 people" in texts(figure)
    assert "Subset selection" in texts(figure)
    bound = next(trace for trace in figure.data if trace.fill == "tozeroy")
    assert min(bound.y) > 0  # where it says nothing it is not drawn
    low, high = figure.layout.yaxis.range
    assert low < np.log10(3000) < high
    alone = users(1.0).query("name == 'subset_selection' and epsilon == 1.0")
    assert "Subset selection" in texts(charts.users_over_epsilon(alone, 1.0, 3000))
