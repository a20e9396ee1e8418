"""The trade-off: a region, a line for each mechanism, marks where only some epsilons were computed."""

import numpy as np
import pandas as pd

from ldp_core import charts

AT = np.array([0.25, 0.5, 1.0, 2.0])
LINES = pd.concat(
    pd.DataFrame({"name": name, "epsilon": AT, "users_needed": users / AT**2})
    for name, users in (("centred_svd", 900.0), ("subset_selection", 3000.0), ("optimized", 1000.0))
)


def test_bounds_shade_mechanisms_are_lines_and_fits_are_marks():
    figure = charts.users_over_epsilon(LINES, 1.0, 2000, ["optimized"], 950.0)
    drawn = {trace.name: trace for trace in figure.data}
    assert drawn[charts.title("centred_svd")].fill == "tozeroy"
    assert drawn[charts.title("subset_selection")].mode == "lines"
    assert drawn[charts.title("optimized")].mode == "lines+markers"
    assert list(drawn[charts.title("optimized")].y) == list(1000.0 / AT**2)
    assert list(drawn["proved minimum"].y) == [950.0]
    said = [note.text for note in figure.layout.annotations]
    assert {"your 2,000 people", "your epsilon", "impossible", charts.title("optimized")} <= set(said)


def test_a_bound_that_says_nothing_is_not_drawn():
    nothing = LINES.assign(users_needed=np.where(LINES["name"] == "centred_svd", 0.0, LINES["users_needed"]))
    figure = charts.users_over_epsilon(nothing, 1.0, 2000)
    assert {trace.name for trace in figure.data} == {charts.title("subset_selection"), charts.title("optimized")}


def test_words_stand_apart_and_few_names_take_no_width():
    for users in (1, 60, 5_000, 10**6):
        figure = charts.users_over_epsilon(LINES, 1.0, users, ["optimized"])
        low, high = figure.layout.yaxis.range
        notes = {note.text: note for note in figure.layout.annotations}
        level = (np.log10(users) - low) / (high - low)
        assert abs(notes["impossible"].y - level) > 0.05
        assert all(notes[charts.title(name)].xanchor == "right" for name in ("optimized", "subset_selection"))
        assert figure.layout.margin.r <= 34


def test_no_one_needs_a_part_of_a_person_and_a_single_point_is_seen():
    few = pd.concat([LINES.assign(users_needed=LINES["users_needed"] / 10_000), LINES[:1].assign(name="haar")])
    drawn = {trace.name: trace for trace in charts.users_over_epsilon(few, 1.0, 20, proved=0.01).data}
    assert min(min(trace.y) for trace in drawn.values()) == 1
    assert drawn[charts.title("haar")].mode == "markers"
    frame = pd.DataFrame({"name": ["haar", "subset_selection"], "users_needed": [0.002, 40.0]})
    assert min(charts.users_needed(frame, {"certificate": 0.001}, 100).data[0].x) == 1
