"""The pictures of the two sides: on one axis, with marks where the numbers are."""

import numpy as np
import pytest

from ldp_core import beliefs, charts
from ldp_core.studies import curves as of_users


def curves(epsilon, suspicion=0.5, n=25):
    return beliefs.over_epsilon(suspicion, None, n, np.union1d(of_users.epsilons(epsilon), epsilon))


def texts(figure):
    return [note.text for note in figure.layout.annotations]


def test_marks_stand_on_their_lines_and_say_their_numbers():
    frame = curves(1.0)
    figure = charts.beliefs(frame, 1.0, 0.5, "subset_selection", single=0.6, guess=0.08)
    marks = {trace.text[0]: trace.y[0] for trace in figure.data if trace.text}
    assert marks["73"] == pytest.approx(100 * beliefs.strongest(0.5, 1.0))
    assert marks["60"] == pytest.approx(60)
    assert figure.data[0].y == pytest.approx(100 * frame["belief"])
    assert {"strongest belief", "best guess", "prior"} <= set(texts(figure))
    assert len(charts.beliefs(frame, 1.0, 0.5, "gaussian").data) == 4  # nothing known of the mechanism
