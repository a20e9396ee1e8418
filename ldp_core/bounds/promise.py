"""Which promise bounds are about: the one place that says whether those of LDP, where every value is secret, hold for some questions."""

from __future__ import annotations

from ldp_core.workloads import Workload
from ldp_core.workloads.base import check_workload

ONLY_SOME = (
    "This bound is about mechanisms that protect every value, and here some values are not secret, so that fewer people can suffice. "
    "Use ldp_core.bounds.certificate, or let every value be secret."
)


def every_value_is_secret(workload: Workload) -> bool:
    """True if bounds, statements and limits of LDP hold: no type is open (see `ldp_core.workloads.secret`)."""
    return workload.all_secret is workload


def check_every_value_is_secret(workload: Workload) -> None:
    """ValueError, one sentence, for a workload with open types, and for anything but a workload."""
    check_workload(workload)
    if not every_value_is_secret(workload):
        raise ValueError(ONLY_SOME)
