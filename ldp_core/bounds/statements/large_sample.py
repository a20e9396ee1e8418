"""Limits of every estimator of a histogram once there are enough users, biased or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ldp_core.bounds import frequency
from ldp_core.bounds.statements.statement import Assumption, Setting, Statement, is_pure
from ldp_core.workloads import OnAttributes, Union, Workload

PAPER = "Lopuhaä-Zwakenberg et al. 2020"
OF_ERRORS = {
    "distribution": "The error is that of the distribution people are drawn from, so it holds the chance of who takes part.",
    "frequency": "The error is that of the shares among the people who take part.",
}
ASSUMPTIONS = (
    Assumption(
        "The workload is the histogram of the types, or of one column of theirs.",
        lambda setting: histogram_of(setting.workload) is not None,
    ),
    Assumption(
        "Users grow without limit: with any given number, estimators that lean on what is known beforehand may have smaller errors.",
        lambda setting: False,
    ),
    Assumption(
        "The population is drawn from a continuous prior; the even one stands for priors that gather around it."
    ),
)


def histogram_of(workload: Workload) -> tuple[int, float] | None:
    """The number of values counted and the squared weight of each query, for a histogram of all
    types or of all values of one column; None for other questions.

    Theorem 4.5 holds for a column as for all types: with the other columns drawn by any fixed law, a report about all of
    them is an epsilon-LDP report about the column.
    """
    if isinstance(workload, Union) and len(workload.parts) == 1:
        histogram = histogram_of(workload.parts[0])
        return None if histogram is None else (histogram[0], histogram[1] * workload.weights[0] ** 2)
    base = workload.base if isinstance(workload, OnAttributes) else workload
    if isinstance(workload, OnAttributes) and math.prod(workload.shape[i] for i in workload.kept) != base.n:
        return None
    if base.symmetry != "exchangeable" or base.gram_sums[0] != base.gram_diag[0] or not base.gram_diag[0] > 0:
        return None
    return base.n, float(base.gram_diag[0])


def is_histogram(workload: Workload) -> bool:
    """True if the workload is a histogram of any weight, of all types or of one column."""
    return histogram_of(workload) is not None


def _other_workload(setting: Setting) -> str:
    if is_histogram(setting.workload):
        return ""
    return (
        "It is about the histogram, one query for each value: no such theorem is known for other questions. The centred SVD "
        "bound averaged over populations takes its place."
    )


def _scale(setting: Setting) -> float:
    histogram = histogram_of(setting.workload)
    assert histogram is not None  # else refused before
    return histogram[1]


def _no_theorem(setting: Setting) -> str:
    if not is_pure(setting):
        return "It is for pure epsilon, and this mechanism has a delta."
    return _other_workload(setting)


def _no_likelihood(setting: Setting) -> str:
    if reason := _other_workload(setting):
        return reason
    if setting.mechanism is None:
        return "It is about one mechanism; choose one."
    histogram = histogram_of(setting.workload)
    if histogram is not None and histogram[0] != setting.workload.n:
        return (
            "It is about a histogram of all types, and this one is of one column; the bounds without a mechanism hold."
        )
    return frequency.why_not(setting.mechanism, setting.concentration)


def _protocol_free(setting: Setting, error: str, form: str) -> float:
    histogram = histogram_of(setting.workload)
    assert histogram is not None  # else refused before
    return histogram[1] * frequency.large_sample(histogram[0], setting.epsilon, error, form, setting.concentration)


def _of_mechanism(setting: Setting, error: str, figure: Callable[..., tuple[float, float]]) -> float:
    return _scale(setting) * figure(setting.mechanism, error, setting.concentration)[0]


FREE_LATEX = {
    ("distribution", "paper"): r"N \cdot \mathrm{MSE} \gtrsim \frac{n}{(e^{\varepsilon} - 1)^2}",
    ("frequency", "paper"): r"N \cdot \mathrm{MSE} \gtrsim \frac{n\, e^{-\varepsilon}}{(e^{\varepsilon} - 1)^2}",
    ("distribution", "sharp"): r"N \cdot \mathrm{MSE} \gtrsim \frac{n}{\lambda}"
    r"\exp\Bigl(\tfrac{1}{n-1} \textstyle\sum_x \mathbb E \log P_x\Bigr),\quad"
    r"\lambda = \min\Bigl(\tanh^2\tfrac{\varepsilon}{2},\ \tfrac{1}{n-1}\sinh^2\tfrac{\varepsilon}{2}\Bigr)",
    ("frequency", "sharp"): r"N \cdot \mathrm{MSE} \gtrsim n \Bigl(\frac{1}{\lambda} - 1\Bigr)"
    r"\exp\Bigl(\tfrac{1}{n-1} \textstyle\sum_x \mathbb E \log P_x\Bigr),\quad"
    r"\lambda \text{ as for the distribution, or } \tanh^2\tfrac{\varepsilon}{2} \text{ for } \varepsilon > 1.763",
}
FREE_SOURCES = {
    ("distribution", "paper"): f"{PAPER}, Theorem 4.5, equation (59)",
    ("frequency", "paper"): f"{PAPER}, Theorem 4.5, the frequency part (60) re-derived for any number of outputs",
    ("distribution", "sharp"): f"this project, from {PAPER}, Corollary 4.3",
    ("frequency", "sharp"): f"this project, from {PAPER}, Corollary 4.3",
}
FREE_WORDS = {
    "paper": (
        "Whatever is sent and however it is read, the squared error of a histogram falls no faster than this over N. The theorem of "
        "the same number by Cormode et al. is about ranges."
    ),
    "sharp": (
        "The same from the spread that the rows of a private strategy can have together. It is stronger where the population "
        "is not too uneven; where it is, the printed form may be stronger, and both are true."
    ),
}


def _free(error: str, form: str) -> Statement:
    return Statement(
        name=f"large_sample_{form}_{error}",
        title=f"Theorem 4.5 (Lopuhaä-Zwakenberg et al.), {error}{'' if form == 'paper' else ', sharper'}",
        kind="large_sample",
        words=f"{FREE_WORDS[form]} {OF_ERRORS[error]}",
        latex=FREE_LATEX[error, form],
        assumptions=(Assumption("Privacy is pure: no delta.", is_pure), *ASSUMPTIONS),
        source=FREE_SOURCES[error, form],
        why_not=_no_theorem,
        compute=partial(_protocol_free, error=error, form=form),
        of_population=error == "distribution",
    )


def _corollary(error: str, inverse: str) -> Statement:
    return Statement(
        name=f"corollary_{error}",
        title=f"Corollary 4.3 for this mechanism, {error}",
        kind="large_sample",
        words=f"However the reports of this mechanism are read, the squared error falls no faster than this. {OF_ERRORS[error]}",
        latex=r"N \cdot \mathrm{MSE} \gtrsim n \exp\Bigl(\tfrac{1}{n-1}\, \mathbb E \log\det " + inverse + r"\Bigr)",
        assumptions=ASSUMPTIONS,
        source=f"{PAPER}, Corollary 4.3",
        why_not=_no_likelihood,
        compute=partial(_of_mechanism, error=error, figure=frequency.large_sample_of),
        costly=True,
        of_population=error == "distribution",
    )


def _efficient(error: str, known: str) -> Statement:
    return Statement(
        name=f"efficient_{error}",
        title=f"Efficient estimator, {error}",
        kind="large_sample",
        words=(
            "The error of maximum likelihood on this mechanism's reports once there are enough users: exact in the limit, so no "
            f"estimator does better on average. {OF_ERRORS[error]}"
        ),
        latex=r"N \cdot \mathrm{MSE} \to \mathbb E\,\bigl[\mathrm{tr}\, M_P^{-1}\bigr] - " + known,
        assumptions=ASSUMPTIONS,
        source=f"the Cramér-Rao bound, attained; {PAPER}, Section 4",
        why_not=_no_likelihood,
        compute=partial(_of_mechanism, error=error, figure=frequency.efficient_of),
        costly=True,
        of_population=error == "distribution",
    )


STATEMENTS = (
    *(_free(error, form) for form in frequency.FORMS for error in frequency.ERRORS),
    _corollary("distribution", r"I_P^{-1}"),
    _corollary("frequency", r"\bigl(I_P^{-1} - \Sigma_P\bigr)"),
    _efficient("distribution", r"\mathbb E \lvert P \rvert^2"),
    _efficient("frequency", "1"),
)
