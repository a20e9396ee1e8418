"""Mechanisms of the library for the classes of types that questions distinguish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.bounds.closed_form import equivalent_objective
from ldp_core.library.specification import Spec
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.on_classes import OnClasses
from ldp_core.optimize.parts import of_types
from ldp_core.workloads import Quotient, Workload, classes_of

TYPES = ("distinguished", "all")
"""The types that reports are about: those that the questions distinguish, or all, for questions
asked later."""


def classes_for(entry: Spec, workload: Workload | None, epsilon: float) -> Quotient | None:
    """The classes that reports of a mechanism for ``workload`` are about; None where they are about all types.

    Surveys have mechanisms that go by attributes. A fit for the even average, with nothing else to choose, needs classes of one size.
    """
    if workload is None or entry.surveys_only or entry.from_file:
        return None
    classes = classes_of(workload)
    if classes is None or entry.unsuitable(classes.workload.n, epsilon, classes.workload):
        return None
    even = entry.fitted and entry.aims == ("average",)
    return None if even and classes.shares(None) is not None else classes


def build(
    entry: Spec, workload: Workload, classes: Quotient, epsilon: float, parameters: Mapping[str, Any]
) -> OnClasses | None:
    """The mechanism for ``classes`` of the types of ``workload``; None if it cannot answer the questions about them."""
    reduced, stated = classes.workload, dict(parameters)
    if entry.aimed and stated.get("target", "average") == "average":
        stated["prior"] = classes.shares(stated.get("prior"))
    if "callback" in stated and "average" in entry.aims:

        def scale(value: float | None) -> float | None:
            return value and equivalent_objective((value - reduced.trace) / reduced.n, workload)

        stated["callback"] = of_types(stated["callback"], classes, scale)
    if entry.may_use_workload:
        stated["workload"] = reduced
    drawn = entry.build(reduced if entry.needs_workload else reduced.n, epsilon, **stated)
    if not entry.fitted and drawn.supports(reduced):
        return None
    return about_classes(drawn, workload, classes)


def about_classes(drawn: Mechanism, workload: Workload, classes: Quotient) -> OnClasses:
    """``drawn``, which reports on ``classes`` of the types of ``workload``, as a mechanism for all types."""
    known = {"workload": workload.spec} if "workload" in drawn.parameters else {}
    return OnClasses(drawn, classes.classes, {**drawn.parameters, **known, "types": TYPES[0]}, workload)
