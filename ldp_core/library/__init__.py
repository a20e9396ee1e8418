"""The registry of mechanisms: what each one is, and how to build it.

It stands above `ldp_core.mechanisms` and `ldp_core.optimize`, because some mechanisms are fitted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ldp_core.bounds import every_value_is_secret
from ldp_core.library import in_classes, in_strata, optimized
from ldp_core.library import own as own
from ldp_core.library import variants as variants
from ldp_core.library.entries import REGISTRY as REGISTRY
from ldp_core.library.in_classes import TYPES as TYPES
from ldp_core.library.in_classes import classes_for as classes_for
from ldp_core.library.specification import Spec as Spec
from ldp_core.mechanisms.base import Mechanism
from ldp_core.optimize.closed_form import candidates
from ldp_core.privacy import check_epsilon
from ldp_core.wording import check_parameters, meant, shortened
from ldp_core.workloads import Workload

USUAL = ("randomized_response", "subset_selection", "hadamard", "hierarchical", "optimized")
"""Mechanisms to compare where no one has chosen any."""
USUAL_FOR_SURVEYS = (
    "sampled_sets",
    "sampled_sets(oracle=oue)",
    "sampled_sets(oracle=randomized_response)",
    "optimized",
)
"""The same for surveys: what the field does with them, and the best there is."""
USUAL_WHERE_SOME_ARE_OPEN = (
    "randomized_response",
    "subset_selection",
    "utility_randomized_response",
    "utility_rappor",
    "optimized",
)
"""The same where only some values are secret. The first two protect all of them."""
USUAL_FOR_LISTS = ("randomized_response", "subset_selection", "privset", "optimized")
"""The same where people choose several items."""

CLOSED_FORMS = {"subset_selection": "subset selection", "haar": "Haar wavelets"}
"""What searches can come to, as it is called in a sentence."""


def names() -> list[str]:
    """Names `create` accepts without a file, for questions where every value is secret."""
    return [name for name, entry in REGISTRY.items() if not (entry.from_file or entry.secret_only)]


def compared(chosen: Sequence[str], epsilon: float, workload: Workload) -> tuple[str, ...]:
    """The mechanisms ``chosen`` for a comparison; those usual for such questions where no one has chosen others than `USUAL`, or all of
    these are for surveys, or for anything but surveys.

    >>> ldp.library.compared(["haar", "optimized"], 1.0, ldp.workloads.survey([2] * 30))[0]
    'sampled_sets'
    """
    entries = [entry for entry in map(spec, chosen) if not entry.fitted]
    if workload.survey is not None:
        runs = any(entry.unsuitable(workload.n, epsilon, workload) is None for entry in entries) or not entries
        usual = tuple(spec(name).mechanism for name in chosen) == USUAL
        return tuple(chosen) if runs and not usual else USUAL_FOR_SURVEYS
    if tuple(chosen) == USUAL and not every_value_is_secret(workload):
        return USUAL_WHERE_SOME_ARE_OPEN
    if tuple(chosen) == USUAL and spec("privset").unsuitable(workload.n, epsilon, workload) is None:
        return USUAL_FOR_LISTS
    return USUAL if entries and all(entry.surveys_only for entry in entries) else tuple(chosen)


def spec(name: str) -> Spec:
    """The entry of the mechanism ``name``, or of a variant of one with parameters in brackets (see `ldp_core.library.variants`).
    ValueError, one sentence, when there is none.

    >>> ldp.library.spec("hierarchical(oracle=oue,branching=16)").name
    'hierarchical(branching=16, oracle=oue)'
    """
    if name in REGISTRY:
        return REGISTRY[name]
    usual = _CALLED.get(_plain(name))
    return REGISTRY[usual] if usual else _variant(name)


def _plain(name: object) -> str:
    return re.sub(r"[\s_-]", "", str(name)).casefold()


_CALLED = {_plain(name): name for name in REGISTRY} | {
    "krr": "randomized_response",
    "grr": "randomized_response",
    "rr": "randomized_response",
    "directencoding": "randomized_response",
    "sue": "rappor",
    "ss": "subset_selection",
    "hr": "hadamard",
    "localhashing": "olh",
}
"""Mechanisms by the names that papers give them, without spaces and in lower case."""


def titled(name: str, mechanism: Mechanism | None) -> str:
    """The title of a mechanism for people, with the closed form that ``mechanism``, what a search came to, is.

    >>> ldp.library.titled("optimized", ldp.mechanisms.create("subset_selection", n=4, epsilon=1.0))
    'Optimised (here: subset selection)'
    """
    here = None if mechanism is None or mechanism.name == name else CLOSED_FORMS.get(mechanism.name)
    return spec(name).title + (f" (here: {here})" if here and spec(name).fitted else "")


@lru_cache(maxsize=1024)
def _variant(name: str) -> Spec:
    mechanism, texts = variants.split(name) or (name, {})
    if mechanism not in REGISTRY:
        raise ValueError(
            f"Unknown mechanism {shortened(mechanism)!r}; {meant(shortened(mechanism).partition('(')[0], REGISTRY)}"
        )
    return variants.read(REGISTRY[mechanism], texts)


def known(name: str) -> Spec | None:
    """The entry of ``name``, None when there is none."""
    try:
        return spec(name)
    except ValueError:
        return None


def create(
    name: str,
    n: int | None = None,
    epsilon: float | list[float] | tuple[float, ...] | None = None,
    workload: Workload | None = None,
    types: str = "distinguished",
    **parameters: Any,
) -> Mechanism:
    """Build the mechanism or variant ``name`` on ``n`` types (taken from ``workload`` when left out), with the ``epsilon`` of one report.

    If the ``workload`` distinguishes fewer types than there are, reports are about its classes of
    types (`ldp_core.mechanisms.OnClasses`). ``types`` "all" keeps all
    types, for questions asked later. If the collector knows attributes, each of its `strata` has a mechanism of this name
    (`ldp_core.mechanisms.strata`), and may have an epsilon of its own: ``epsilon`` is then one for each, in their order.

    Raises ValueError for an unknown name or parameter, a bad value, no epsilon, or a size the mechanism cannot handle.

    >>> ldp.mechanisms.create("subset_selection", n=64, epsilon=1.0)
    <subset_selection mechanism: 64 types, epsilon 1, size 17>
    >>> ldp.mechanisms.create("hierarchical", n=64, epsilon=1.0, branching=8).bits_per_report
    29.0
    >>> ldp.mechanisms.create("hierarchical(branching=8)", n=64, epsilon=1.0).bits_per_report
    29.0
    >>> ldp.mechanisms.create("matrix_l2", epsilon=1.0, workload=ldp.workloads.prefix(8), delta=1e-6, max_rounds=10)
    <matrix_l2 mechanism: 8 types, epsilon 1, delta 1e-06, rounds 10>
    >>> few = ldp.workloads.custom([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]])
    >>> ldp.mechanisms.create("randomized_response", epsilon=1.0, workload=few).drawn
    <randomized_response mechanism: 3 types, epsilon 1>
    """
    entry = spec(name)
    if isinstance(epsilon, list | tuple):
        return in_strata.of_epsilons(workload, epsilon, lambda one: create(name, n, one, workload, types, **parameters))
    epsilon = check_epsilon(epsilon)
    if workload is not None and n is not None and workload.n != n:
        raise ValueError(f"The workload has {workload.n} types but n = {n} was asked for.")
    if workload is None and entry.needs_workload:
        raise ValueError(f"{entry.title} is fitted to a workload; pass workload=...")
    if n is None:
        if workload is None:
            raise ValueError("Pass the number of types n, or a workload.")
        n = workload.n
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise ValueError(f"A mechanism needs a whole number of at least 2 types; got n = {n!r}.")
    check_parameters(entry.title, parameters, entry.parameters)
    for parameter, value in parameters.items():
        entry.parameters[parameter].check(parameter, value)
    if types not in TYPES:
        raise ValueError(
            f"Reports are about the types that the questions distinguish or about all; got types {types!r}."
        )
    if workload is not None and workload.strata is not None:
        return in_strata.build(
            entry, workload, lambda local, given: create(name, None, epsilon, local, types, **given), parameters
        )
    classes = classes_for(entry, workload, epsilon) if types == TYPES[0] else None
    if classes is not None and workload is not None:
        merged = in_classes.build(entry, workload, classes, epsilon, parameters)
        if merged is not None:
            return merged
    if entry.may_use_workload:
        parameters["workload"] = workload
    return entry.build(workload if entry.needs_workload else int(n), epsilon, **parameters)


def unsearched(
    name: str,
    epsilon: float,
    workload: Workload,
    types: str = "distinguished",
    recorded: object = None,
    prior: np.ndarray | None = None,
    target: str = "average",
    **_options: Any,
) -> Mechanism | None:
    """The mechanism that a fit comes to without a search; None where it is a strategy, which only a search or a file gives.

    That is the optimum of questions that treat all types alike, or the closed form with the parameters ``recorded`` in the file of a
    design. The other parameters are those of `create`.
    """
    entry = spec(name)
    if workload.strata is not None:

        def of_design(local: Workload, shares: np.ndarray | None) -> Mechanism | None:
            return unsearched(name, epsilon, local, types, recorded, shares, target)

        return in_strata.of_designs(workload, prior, of_design)
    if entry.build is not optimized.build_certified or entry.unsuitable(workload.n, epsilon, workload):
        return None
    classes = classes_for(entry, workload, epsilon) if types == TYPES[0] else None
    questions = workload if classes is None else classes.workload
    even = target != "average" or (prior if classes is None else classes.shares(prior)) is None
    for made in candidates(questions.n, epsilon):
        whole = made if classes is None else in_classes.about_classes(made, workload, classes)
        if whole.parameters == recorded or (recorded is None and even and questions.symmetry == "exchangeable"):
            return whole
        if recorded is None:
            break
    return None


def held_by_file(name: str, mechanism: Mechanism) -> bool:
    """True if the file of a design has to hold the fit of its mechanism ``name``; False where ``mechanism`` is built from its inputs."""
    return spec(name).fitted and mechanism.name == spec(name).mechanism
