"""Limits of every unbiased mechanism of pure epsilon, for any number of users."""

from __future__ import annotations

from ldp_core.bounds.best import certificate
from ldp_core.bounds.singular_values import centred_svd, svd
from ldp_core.bounds.statements.statement import Assumption, Setting, Statement, is_pure
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.wording import magnitude

ASSUMPTIONS = (
    Assumption("Privacy is pure: no delta.", is_pure),
    Assumption(
        "Answers are unbiased and linear in the counts of the reports, as from every mechanism here. Processing them afterwards "
        "may add bias."
    ),
    Assumption(
        "The error is the average over the people that the design is for; in the worst case, over those for whom the bound is largest."
    ),
)


def _variance(objective: float, setting: Setting) -> float:
    """The average variance per user that an objective L stands for."""
    return max(0.0, (objective - setting.workload.trace) / setting.workload.n)


def _impure(setting: Setting) -> str:
    return "" if is_pure(setting) else "It is for pure epsilon, and this mechanism has a delta."


def _too_many_types(setting: Setting) -> str:
    workload = setting.workload
    known = workload.survey is not None or workload.symmetry_group.scheme is not None
    if workload.n > MOST_MATRIX_TYPES and not known:
        return (
            f"Without a symmetry of the workload it needs an n x n matrix, formed for at most {MOST_MATRIX_TYPES:,} types; there are "
            f"{magnitude(workload.n)}. Use coarser bins."
        )
    return _impure(setting)


STATEMENTS = (
    Statement(
        name="svd",
        title="SVD bound",
        kind="impossible",
        words=(
            "The singular values of the workload say how many different things it asks. The more there are, the larger the "
            "error that every mechanism must have."
        ),
        latex=r"\mathrm{error} \ge \frac{1}{n}\left(\frac{(\sigma_1 + \dots + \sigma_n)^2}{e^{\varepsilon}}"
        r" - \lVert W \rVert_F^2\right)",
        assumptions=ASSUMPTIONS,
        source="McKenna et al. 2020, Theorem 5.6 and Corollary 5.7",
        why_not=_impure,
        compute=lambda setting: _variance(svd(setting.workload, setting.epsilon), setting),
    ),
    Statement(
        name="centred_svd",
        title="Centred SVD bound",
        kind="impossible",
        words=(
            "The same bound without the known part of the workload, the number of people, and with the exact largest variance "
            "of the rows of a private strategy. It is never far from the best mechanism when epsilon is small."
        ),
        latex=r"\mathrm{error} \ge \lVert W p \rVert^2 + \frac{\lVert W S P \rVert_*^2}{\sinh^2(\varepsilon/2)}"
        r" - \textstyle\sum_u p_u \lVert w_u \rVert^2,\quad p_u = \tfrac1n,\ S = \sqrt{\mathrm{diag}\,p},"
        r"\ P = I - \sqrt p \sqrt p^{\,\top}",
        assumptions=ASSUMPTIONS,
        source="this project, after McKenna et al. 2020, Theorem 5.6",
        why_not=_impure,
        compute=lambda setting: _variance(centred_svd(setting.workload, setting.epsilon), setting),
    ),
    Statement(
        name="certificate",
        title="Certificate",
        kind="impossible",
        words=(
            "The strongest bound here, found by an optimiser and proved by numbers that anybody can check again without it. "
            "It lies within a per cent or so of the best strategy there is."
        ),
        latex=r"\mathrm{error} \ge \frac{1}{n}\left(\frac{\mathrm{tr}(C G)^2}{\mathbf 1^{\top}\mu} - \mathrm{tr}\,G\right)"
        r"\quad\text{where}\quad v^{\top} C G C v \le (\mathbf 1^{\top} v)(\mu^{\top} v)"
        r"\ \text{ for all } v \in \{1, e^{\varepsilon}\}^n",
        assumptions=ASSUMPTIONS,
        source="this project, on the objective of McKenna et al. 2020",
        why_not=_too_many_types,
        compute=lambda setting: _variance(certificate(setting.workload, setting.epsilon).value, setting),
        costly=True,
    ),
)
