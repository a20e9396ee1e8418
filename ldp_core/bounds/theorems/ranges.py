"""Formulas of Cormode, Kulkarni and Srivastava 2019 for ranges over n ordered types, for comparison with exact variances.

Every figure is the **variance of one answer per user**: N times the mean squared error of a share. B is the branching factor of a
tree, r the ``length`` of a range in types (one, or an array (k,) of them), and V_F = 4 E/(E - 1)^2 the variance of a count of OUE or
OLH in a place with few people (HRR's is V_F + 1, noticeable from epsilon 2 on). "Average" is over all n(n + 1)/2 ranges.

Whole heights and the last nodes of uneven trees matter more than the formulas show. Only `raw_bound` (and `haar_bound` below an
epsilon of about 1.9) bounds anything. ValueError for sizes out of range.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from ldp_core.arguments import check_whole
from ldp_core.privacy import check_epsilon


def count_variance(epsilon: float) -> float:
    """V_F = 4 E/(E - 1)^2."""
    epsilon = check_epsilon(epsilon)
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


def flat_error(epsilon: float, length: int | np.ndarray) -> np.ndarray:
    """A range summed from counts of single types: r V_F (Fact 1)."""
    return _lengths(length) * count_variance(epsilon)


def raw_bound(n: int, epsilon: float, branching: int, length: int | np.ndarray) -> np.ndarray:
    """At most this for a range answered from the fewest nodes of a tree, levels drawn evenly (Theorem 4.3, equation (1)):

        (2 B - 1) V_F h (ceil(log_B r) + 1),  h = ceil(log_B n)

    It counts 2 B - 1 nodes a level: at n = 256 the worst range of a length is 1.7 to 31 times below it (OUE, epsilon 1.1).

    >>> f"{ldp.bounds.ranges.raw_bound(256, 1.1, branching=4, length=200):.1f}"
    '418.8'
    """
    n, B = _tree(n, branching)
    reach = [1]  # whole numbers, so that powers of B are on the right level
    while reach[-1] < n:
        reach.append(reach[-1] * B)
    levels = np.searchsorted(reach, _lengths(length, n))
    return (2 * B - 1) * count_variance(epsilon) * (len(reach) - 1) * (levels + 1)


def range_error(n: int, epsilon: float, branching: int) -> float:
    """Average over all ranges answered from the fewest nodes of a tree (Theorem 4.5 of this paper):

        2 (B - 1) V_F log_B n log_B(3 n^2/(1 + 2 n))

    A prediction and no bound. It averages V_r = 2 (B - 1) V_F log_B n log_B r, which is 0 at r = 1, and puts an upper bound
    where a mean is subtracted. Exact errors of OUE are 0.27 to 0.37 of it at epsilon up to 1.1, and 0.40 to 0.95 at 4 (n = 256).

    >>> round(ldp.bounds.range_error(256, 1.1, branching=4), 2)
    308.1
    """
    n, B = _tree(n, branching)
    return 2 * (B - 1) * count_variance(epsilon) * math.log(n, B) * math.log(3 * n**2 / (1 + 2 * n), B)


def range_error_averaged(n: int, epsilon: float, branching: int) -> float:
    """The average that `range_error` stands for, as n grows: 2 (B - 1) V_F log_B n (ln n - 3/2)/ln B (this project).

    The mean of ln r over the ranges of n types goes to ln n - 3/2. The printed form is 1.47 times this at 256 types and 1.20
    times at 65,536. Below five types it would be negative, and is refused.
    """
    n, B = _tree(n, branching)
    if n < 5:
        raise ValueError(f"This average is one for many types, and negative below 5; got {n}.")
    return 2 * (B - 1) * count_variance(epsilon) * math.log(n, B) * (math.log(n) - 1.5) / math.log(B)


def consistent_error(n: int, epsilon: float, branching: int, length: int | np.ndarray) -> np.ndarray:
    """A range after the tree was made consistent (equation (2)): (B + 1) V_F log_B r log_B(n)/2.

    A prediction: 0 for single types and too small for short ranges; at n = 256 it is 1.3 to 5.1 times the variance of the worst
    ranges of 100 to 200 types (OUE, epsilon 1.1).
    """
    n, B = _tree(n, branching)
    return np.log(_lengths(length, n)) * ((B + 1) * count_variance(epsilon) * math.log(n) / math.log(B) ** 2 / 2)


def haar_bound(n: int, epsilon: float) -> float:
    """Every range by HaarHRR (equation (3)): at most log2(n)^2 V_F/2.

    The exact maximum at n = 256 is 0.45 of it at epsilon 0.1, 0.60 at 1.1, but 1.06 at 2 and 6.3 at 4: it holds up to an
    epsilon of about 1.9, as the noise of HRR does not vanish with V_F.
    """
    return math.log2(check_whole("number of types", n, 2)) ** 2 * count_variance(epsilon) / 2


def best_branching(consistent: bool) -> float:
    """The branching factor that makes the formulas above least (Sections 4.4 and 4.5), the root of

        B ln B = 2 B - 2  (4.92155)  without consistency, where (B - 1)/ln(B)^2 is least,
        B ln B = 2 B + 2  (9.18632)  with it, where (B + 1)/ln(B)^2 is least.

    Exact errors favour others, as heights are whole: at n = 256 and epsilon 1.1, B = 4 with consistency and without.

    >>> round(ldp.bounds.best_branching(consistent=False), 5), round(ldp.bounds.best_branching(consistent=True), 5)
    (4.92155, 9.18632)
    """
    extra = 2 if consistent else -2
    return float(brentq(lambda B: B * math.log(B) - 2 * B - extra, 2.5, 20, xtol=1e-13))


def _tree(n: int, branching: int) -> tuple[int, int]:
    n = check_whole("number of types", n, 2)
    return n, check_whole("branching factor", branching, 2, n)


def _lengths(length: int | np.ndarray, most: float = math.inf) -> np.ndarray:
    lengths = np.asarray(length)
    if lengths.dtype.kind not in "iu" or lengths.min() < 1 or lengths.max() > most:
        raise ValueError(f"The length of a range must be a whole number from 1 to {most:,}; got {length!r}.")
    return lengths
