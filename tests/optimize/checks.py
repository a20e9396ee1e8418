"""What every strategy that a search tells of keeps, its objective as the formula says, and people who cancel."""

import numpy as np


def assert_valid(strategy, epsilon):
    assert strategy.dtype == np.float64
    assert strategy.min() > 1e-300  # subnormal numbers have no exact ratios
    assert np.abs(strategy.sum(axis=0) - 1).max() <= 1e-12
    ratio = (strategy.max(axis=1) / strategy.min(axis=1)).max()
    assert ratio <= np.exp(epsilon)
    assert np.log(ratio) <= epsilon


def plain_objective(strategy, workload, prior=None):
    """tr(M_p^-1 G) by NumPy's own inverse."""
    masses = strategy.sum(axis=1) if prior is None else workload.n * strategy @ prior
    M = strategy.T @ (strategy / masses[:, None])
    return float(np.trace(np.linalg.pinv(M, rcond=1e-14) @ workload.gram_dense()))


class Asked:
    """Says yes from the ``last`` time on that it is asked."""

    def __init__(self, last):
        self.times, self.last = 0, last

    def __call__(self):
        self.times += 1
        return self.times >= self.last

    @property
    def after(self):
        """How often it was asked after it had said yes."""
        return max(0, self.times - self.last)
