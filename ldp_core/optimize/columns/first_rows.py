"""Two-valued rows to start from: thresholded Gaussian fields shaped by the workload, and randomized response."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.special import ndtri

from ldp_core.bounds.centred import field_correlation, high_share
from ldp_core.run import Check, unchecked


def threshold_rows(
    gram: np.ndarray, ratio: float, rows: int, rng: np.random.Generator, check: Check = unchecked
) -> np.ndarray:
    """Boolean rows (rows, n), high where a Gaussian field exceeds its quantile; ``ratio`` is E.

    The centred SVD bound (`ldp_core.bounds.centred_svd`) is attained by rows with a share 1/(E + 1) of high entries and a
    covariance proportional to ``(P G P)^(1/2)``, P the projection off the ones: see `field_correlation`. The field's
    source vectors are orthogonal in groups of n: the second moments then vary less between draws.
    """
    n = len(gram)
    correlation = field_correlation(gram)
    check()
    values, vectors = linalg.eigh(correlation)
    field = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    field /= np.sqrt(np.square(field).sum(axis=1))[:, None]
    threshold = ndtri(1 - high_share(ratio, n))
    found = np.empty((rows, n), dtype=bool)
    for start in range(0, rows, n):
        check()
        orthogonal, triangle = linalg.qr(rng.standard_normal((n, n)))
        check()
        source = orthogonal * (np.sign(triangle.diagonal()) * np.sqrt(n))
        block = found[start : start + n]
        np.greater((linalg.blas.dgemm(1.0, field, source.T).T)[: len(block)], threshold, out=block)
    return found
