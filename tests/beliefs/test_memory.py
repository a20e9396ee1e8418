"""What reports of a device with a memory tell: against all reports written out, and the figures that are known."""

import itertools
import math

import pytest

from ldp_core.beliefs import losses, memory_in_words


def written_out(kept, fresh, reports):
    """The largest ratio over all reports and all pairs of courses, for no change and for one at most."""
    keeps, honest = math.exp(kept) / (1 + math.exp(kept)), math.exp(fresh) / (1 + math.exp(fresh))

    def chance(said, course):
        """Over the two answers that the device may have kept."""
        total = 0.0
        for answers in itertools.product((0, 1), repeat=2):
            p = math.prod(keeps if answer == value else 1 - keeps for value, answer in enumerate(answers))
            total += p * math.prod(
                honest if one == answers[value] else 1 - honest for one, value in zip(said, course, strict=True)
            )
        return total

    found = []
    for changes in (0, 1):
        courses = [
            course
            for course in itertools.product((0, 1), repeat=reports)
            if sum(a != b for a, b in itertools.pairwise(course)) <= changes
        ]
        found.append(
            max(
                math.log(max(chances) / min(chances))
                for said in itertools.product((0, 1), repeat=reports)
                for chances in [[chance(said, course) for course in courses]]
            )
        )
    return found


@pytest.mark.parametrize(("kept", "fresh", "reports"), [(1, 1, 1), (1, 1, 4), (0.5, 2, 5), (3, 0.7, 6), (12, 8, 3)])
def test_losses_are_those_of_all_reports_written_out(kept, fresh, reports):
    found = losses(kept, fresh, reports)
    assert [found.never, found.once] == pytest.approx(written_out(kept, fresh, reports), rel=1e-9)
    assert found.one == pytest.approx(written_out(kept, fresh, 1)[0], rel=1e-9)


@pytest.mark.parametrize(("reports", "once"), [(4, 1.71), (7, 3.02), (10, 4.62)])
def test_the_figures_at_epsilon_1(reports, once):
    found = losses(1.0, 1.0, reports)
    assert (round(found.one, 2), round(found.once, 2)) == (0.43, once)
    assert found.never < 1.0
    assert round(losses(1.0, 1.0, 28).never, 2) == 1.0
    assert f"{once} of one that changes at most once" in memory_in_words(1.0, reports)


def test_a_memory_saves_nothing_that_is_not_there():
    for reports in range(1, 12):
        found = losses(0.8, 0.8, reports)
        assert found.never <= 0.8
        assert found.never <= found.once <= 0.8 * reports
    assert memory_in_words(1.0, 1000) == memory_in_words(1.0, 28)
