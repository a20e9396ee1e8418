"""Limits and reports of long work: time, cancelling, rounds, and the loop of the optimisers."""

import numpy as np
import pytest

from ldp_core import bounds
from ldp_core.run import Budget, drive
from ldp_core.workloads import custom
from tests.refused import refused


class Halving:
    """Its objective halves every round, down to ``floor``."""

    def __init__(self, floor=0.0, finished_below=-1.0):
        self.objective, self._floor, self._end, self.ended = 1.0, floor, finished_below, None

    @property
    def best(self):
        return self

    @property
    def finished(self):
        return self.objective < self._end

    def prepare(self):
        pass

    def round(self):
        self.objective = max(self._floor, self.objective / 2)

    def finish(self, at_once):
        self.ended = at_once
        return "found", self.objective


@pytest.mark.parametrize(
    ("limits", "least", "sentence"),
    [
        ({"time_limit": -1}, 0, "number of seconds from 0 up, but is -1"),
        ({"max_rounds": 0}, 1, "at least 1, but is 0"),
        ({"max_rounds": 2.5}, 0, "whole number"),
    ],
)
def test_limits_out_of_range_are_refused(limits, least, sentence):
    refused(sentence, Budget, **limits, least_rounds=least)


@pytest.mark.parametrize(
    ("search", "limits", "window", "stopped", "rounds"),
    [
        (Halving(), {"max_rounds": 3}, None, "rounds", 3),
        (Halving(), {"time_limit": 0}, None, "time", 0),
        (Halving(), {"cancel": lambda: True}, None, "cancelled", 0),
        (Halving(finished_below=0.2), {"max_rounds": 50}, None, "converged", 3),
        (Halving(floor=0.25), {"max_rounds": 50}, 4, "converged", 6),  # two rounds that gain, four that do not
        (Halving(floor=0.25), {"max_rounds": 50}, None, "rounds", 50),
    ],
)
def test_the_loop_ends_where_it_should(search, limits, window, stopped, rounds):
    run = drive(search, Budget(**limits), window)
    assert (run.stopped, len(run.history)) == (stopped, rounds)
    assert run.found == ("found", search.objective)
    assert [number for number, _, _ in run.history] == list(range(1, rounds + 1))
    assert search.ended == (stopped == "cancelled")


def test_a_search_for_the_worst_population_ends_early_with_a_true_bound():
    workload, calls = custom(np.diag(np.arange(1.0, 13))), []

    def cancel():
        calls.append(True)
        return len(calls) > 1

    cut = bounds.worst_case_variance(workload, 3.0, cancel=cancel)
    assert len(calls) == 2
    even = (bounds.centred_svd(workload, 3.0) - workload.trace) / workload.n
    assert even < cut < bounds.worst_case_variance(workload, 3.0)
