"""What sessions share of proofs is what each would have found: see `tests.pages.proofs`."""

import pytest

from ldp_core import workloads
from ldp_core.bounds.best import certificate
from pages.ui.tasks import work
from tests.pages.proofs import found_once


def test_who_asks_again_gets_the_same_proof_and_is_told_the_same():
    search, first, again = found_once(certificate), [], []
    found = search(workloads.prefix(8), 1.0, None, callback=first.append)
    assert search(workloads.prefix(8), 1.0, None, callback=again.append) is found
    assert again == first
    assert first
    assert found.value == pytest.approx(certificate(workloads.prefix(8), 1.0, None).value)


def test_other_questions_and_what_was_cancelled_are_searched_for():
    search = found_once(certificate)
    cut = search(workloads.prefix(8), 1.0, None, cancel=lambda: True)
    found = search(workloads.prefix(8), 1.0, None)
    assert found is not cut
    assert found.value > cut.value
    assert search(workloads.prefix(8), 2.0, None).epsilon == 2.0
    assert search(workloads.prefix(9), 1.0, None).workload.n == 9


def test_no_proof_is_begun_before_the_test_waits_for_it(on_ages):
    state = on_ages.session
    case = state.present.aim(state.chosen)
    assert work.certificate(state, case).running.progress is None
    assert state.setting.proof(case) is None
    on_ages.finish()
    assert state.setting.proof(case).finished
