"""Reports that no device draws are named, whatever the mechanism, and those of devices never are."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "kit"))
from examples import MECHANISMS, as_people, values_of

from ldp_core import mechanisms, workloads
from ldp_core.deploy import collector
from ldp_core.deploy.collector import Collection, plausible, unlike_in_words

DESIGN = "0123456789abcdef"


def collected(mechanism, raw):
    return Collection(DESIGN, mechanism.aggregate(raw))


@pytest.mark.promise
@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_of_devices_are_never_named(name):
    """One person, a few, many; all alike and spread out."""
    mechanism, rng = MECHANISMS[name](), np.random.default_rng(1)
    values = values_of(mechanism)
    for users in (1, 2, 5, 20, 100, 1000, 4000):
        for shares in (rng.dirichlet(np.full(len(values), 0.2)), np.eye(len(values))[0]):
            chosen = [values[i] for i in rng.choice(len(values), users, p=shares)]
            sent = mechanism.privatize(as_people(mechanism, chosen), rng)
            assert unlike_in_words(collected(mechanism, sent), mechanism) == ""


@pytest.mark.parametrize(
    ("name", "reconstruction", "n"),
    [("oue", "standard", 4), ("rappor", "known_total", 300), ("olh", "known_total", 20)],
)
def test_bits_are_judged_the_same_however_they_are_kept(name, reconstruction, n):
    """As sums, by pattern, or by the number of ones; of four types as of hundreds."""
    mechanism, rng = mechanisms.create(name, n=n, epsilon=1.0, reconstruction=reconstruction), np.random.default_rng(0)
    for users in (1, 30, 1500):
        counts = rng.multinomial(users, rng.dirichlet(np.full(n, 0.3)))
        assert unlike_in_words(Collection(DESIGN, mechanism.simulate(counts, rng)), mechanism) == ""
    sent = mechanism.privatize(np.zeros(300, dtype=np.int64), rng)
    sent[:] = sent[:1]
    assert unlike_in_words(collected(mechanism, sent), mechanism)


@pytest.mark.parametrize("name", MECHANISMS)
def test_one_report_again_and_again_is_named(name):
    mechanism, rng = MECHANISMS[name](), np.random.default_rng(1)
    sent = mechanism.privatize(as_people(mechanism, values_of(mechanism)[:1] * 500), rng)
    sent[:] = sent[:1]
    assert "do not draw such reports" in unlike_in_words(collected(mechanism, sent), mechanism)


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "oue", "rappor", "olh", "hrr", "haar"])
def test_another_epsilon_is_named(name):
    """Sent at epsilon 4 to a design of epsilon 1, by 3,000 people of three values of four."""
    options = {"reconstruction": "known_total"} if name in ("oue", "rappor", "olh") else {}
    built, other = (mechanisms.create(name, n=8, epsilon=epsilon, **options) for epsilon in (1.0, 4.0))
    people = np.repeat([0, 1, 2], 1000)
    if name in ("subset_selection", "olh"):  # other reports than of this design: refused before they are counted
        other = mechanisms.create(name, n=8, epsilon=1.0, **options)
        people = np.zeros(3000, dtype=int)
    sent = other.privatize(people, np.random.default_rng(0))
    if name in ("subset_selection", "olh"):
        sent = sent[other_contains(other, sent, 0)]
    assert unlike_in_words(collected(built, sent), built)


def other_contains(mechanism, sent, value):
    """Reports that name a value, as those of a device without noise do."""
    named = [mechanism.aggregate(sent[i : i + 1]).arrays[0][value] for i in range(len(sent))]
    return np.array(named) > 0


def test_proportions_that_no_people_have_are_named():
    """Of six outputs each alone could be as frequent as it is, but not all together; of people, no sample of any kind is so."""
    strategy = np.array([[4.0, 1, 4, 1], [1, 4, 1, 4], [4, 1, 1, 4], [1, 4, 4, 1]]) / 10
    mechanism = mechanisms.ExplicitMechanism("custom", strategy, np.log(4.0))
    together = np.repeat(
        [0, 2], 1000
    )  # only the first type sends both often, and the others it sends as often as one of them
    said = unlike_in_words(collected(mechanism, together), mechanism)
    assert "proportions" in said or "makes up" in said
    fair = np.repeat([0, 1, 2, 3], [400, 100, 400, 100])
    assert unlike_in_words(collected(mechanism, fair), mechanism) == ""
    # each output has a share between its least and most chance, but one type explains at most 0.8 of the first and third together
    assert unlike_in_words(collected(mechanism, np.repeat([0, 1, 2, 3], [3900, 1100, 3900, 1100])), mechanism) == ""
    square = np.array([[4.0, 1, 2.5], [1, 4, 2.5], [2.5, 2.5, 2.5], [2.5, 2.5, 2.5]]) / 10
    other = mechanisms.ExplicitMechanism("custom", square, np.log(4.0))
    off = np.repeat([0, 1, 2, 3], [2500, 2500, 2250, 2750])  # the last two are alike for everybody
    assert plausible.LEVEL < 1e-6
    assert "as" in unlike_in_words(collected(other, off), other)


def test_an_interval_cut_to_a_point_is_none():
    """True values sent as they are: 1,415 of 1,000 people is no answer with an interval from 1,000 to 1,000."""
    mechanism, workload = mechanisms.create("randomized_response", n=4, epsilon=1.0), workloads.histogram(4)
    found = collected(mechanism, np.repeat([0, 1], [950, 50]))
    for estimator in ("unbiased", "wnnls"):
        frame = collector.answers(found, mechanism, workload, estimator)
        assert np.isnan(frame.low[0])
        assert np.isnan(frame.high[0])
    assert unlike_in_words(found, mechanism)


def test_answers_known_without_reports_keep_their_interval():
    mechanism, workload = mechanisms.create("randomized_response", n=4, epsilon=1.0), workloads.prefix(4)
    found = Collection(DESIGN, mechanism.simulate(np.array([100, 100, 100, 100]), np.random.default_rng(0)))
    frame = collector.answers(found, mechanism, workload)
    assert frame.low[3] == pytest.approx(100)
    assert frame.high[3] == pytest.approx(100)
    assert frame.verdict[3] == "usable"


@pytest.mark.parametrize("kind", collector.KINDS)
def test_several_occasions_are_averaged(kind):
    mechanism, workload = mechanisms.create("randomized_response", n=4, epsilon=2.0), workloads.histogram(4)
    people = np.array([400, 300, 200, 100])
    found = Collection(DESIGN, mechanism.simulate(4 * people, np.random.default_rng(0)))
    once = collector.answers(found, mechanism, workload, kind=kind)
    average = collector.answers(found, mechanism, workload, kind=kind, occasions=4)
    numbers = ["answer", "low", "high", "promised", "standard_error", "unbiased"]
    assert np.allclose(average[numbers], once[numbers])  # as of four times the people, each with one report
    assert np.allclose(average["adds_up_to"], 1000)
    assert np.all(np.abs(average.answer - people / 10) < 6 * average.promised)


def test_patterns_that_are_never_scrambled_are_named_however_often_each_is_sent():
    mechanism, rng = MECHANISMS["patterns"](), np.random.default_rng(2)
    sent = mechanism.privatize(as_people(mechanism, values_of(mechanism)[:1] * 2000), rng)
    for number in range(len(mechanism.patterns)):
        mine = np.flatnonzero(sent[:, 0] == number)
        sent[mine] = sent[mine[0]]
    assert "one cell is in" in unlike_in_words(collected(mechanism, sent), mechanism)
