"""What tests share of charts is what each would have drawn: see `tests.pages.drawn`."""

import pandas as pd

from ldp_core import charts
from ldp_core.charts.compare import users_needed
from tests.pages.drawn import drawn_once, readable_once

TABLE = pd.DataFrame({"name": ["hadamard", "hierarchical"], "users_needed": [3e4, 2e4]})


def test_who_asks_again_gets_what_would_be_drawn():
    draw = drawn_once(users_needed)
    first = charts.readable(draw(TABLE, {"svd": 5e3}, 10_000), charts.LIGHT)
    assert draw(TABLE.copy(), {"svd": 5e3}, 10_000) is first
    assert draw(TABLE, {"svd": 5e3}, 10_000) == charts.readable(users_needed(TABLE, {"svd": 5e3}, 10_000), charts.LIGHT)


def test_other_numbers_are_drawn():
    draw = drawn_once(users_needed)
    drawn = [
        draw(TABLE, {"svd": 5e3}, 10_000),
        draw(TABLE.assign(users_needed=[3e4, 2.5e4]), {"svd": 5e3}, 10_000),
        draw(TABLE, {"svd": 6e3}, 10_000),
        draw(TABLE, {"svd": 5e3}, 10_000, charts.DARK),
    ]
    assert len({figure.to_json() for figure in drawn}) == 4


def test_pages_have_all_charts_from_there(app):
    app.go("start")
    pictures = {name for name in vars(charts) if hasattr(getattr(charts, name), "__wrapped__")}
    assert {"users_needed", "answers", "closing_gap", "patterns", "beliefs", "readable"} <= pictures


def test_a_figure_is_made_readable_once_for_every_look():
    asked = []
    mend = readable_once(lambda figure, look: asked.append(look) or figure)
    figures = [users_needed(TABLE, {}, 10_000), users_needed(TABLE, {}, 10_000)]
    for figure, look in [(0, charts.LIGHT), (0, charts.LIGHT), (0, charts.DARK), (1, charts.LIGHT)]:
        assert mend(figures[figure], look) is figures[figure]
    assert asked == [charts.LIGHT, charts.DARK, charts.LIGHT]
