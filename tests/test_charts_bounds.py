"""Pictures of the theorems: every number where it belongs, what is impossible shaded and nothing else."""

import numpy as np
import pytest

from ldp_core import analysis, charts, mechanisms, workloads
from ldp_core.bounds.theorems import frequency
from ldp_core.bounds.theorems.statements import Setting
from ldp_core.charts.bounds import AUTHORS
from ldp_core.charts.theme import colour
from ldp_core.studies import theorems

WORKLOAD = workloads.histogram(8)
MECHANISM = mechanisms.create("hadamard", n=8, epsilon=1.0)
VARIANCE = analysis.average_variance(MECHANISM, WORKLOAD)


@pytest.fixture(scope="module")
def table():
    setting = Setting(WORKLOAD, 1.0, 3000, MECHANISM)
    known = {"certificate": VARIANCE / 2, **theorems.weighted(WORKLOAD, frequency.figures_of(MECHANISM))}
    return theorems.table([entry for entry in theorems.entries(setting, 0.01, VARIANCE, known) if entry.alike])


def points(fig):
    """The marks of all groups by their titles."""
    return {
        words[0]: x
        for trace in fig.data
        if trace.customdata is not None
        for words, x in zip(trace.customdata, trace.x, strict=True)
    }


def plain(text):
    return text.replace("<br>", " ").replace("\N{NO-BREAK SPACE}", " ")


def test_every_number_is_drawn_once_in_its_row(table):
    fig = charts.on_one_axis(table, 0.02, "hadamard")
    shown = table[np.isfinite(table["standard_error"])].set_index("title")["standard_error"]
    assert points(fig) == pytest.approx((100 * shown).to_dict())
    assert fig.layout.xaxis.type == "log"
    names = [plain(name) for name in fig.layout.yaxis.ticktext]
    beside = {
        (words.y, round(10**words.x, 6)): plain(words.text) for words in fig.layout.annotations if words.xref != "paper"
    }
    for trace in fig.data:
        if trace.customdata is not None:
            for words, x, y in zip(trace.customdata, trace.x, trace.y, strict=True):
                assert names[y] == AUTHORS.sub("", words[0])
                assert f"{beside[y, round(x, 6)]} percentage points" == plain(words[1])
    assert (names[0], beside[0, 2.0]) == ("<b>Hadamard response</b>", "± 2")
    (own,) = [trace for trace in fig.data if trace.customdata is None]
    assert list(own.x) == [2.0]
    assert own.marker.color == colour("hadamard")


def test_only_what_is_impossible_is_shaded_up_to_the_strongest(table):
    fig = charts.on_one_axis(table, None, "hadamard")
    (shaded,) = [shape for shape in fig.layout.shapes if shape.type == "rect"]
    impossible = table[table["kind"] == "impossible"]
    assert shaded.x1 == pytest.approx(100 * impossible["standard_error"].max())
    (said,) = [words for words in fig.layout.annotations if words.text == "impossible"]
    assert plain(fig.layout.yaxis.ticktext[said.y]) == "<b>Proved minimum</b>"
    without = charts.on_one_axis(table[table["kind"] != "impossible"], None, "hadamard")
    assert not [shape for shape in without.layout.shapes if shape.type == "rect"]
