"""Trees written out from their definition: levels and least squares."""

import numpy as np


def level_matrices(n, branching):
    """(nodes, n) of each level: which types a node covers, written out from the definition."""
    levels, width = [], 1
    while width < n:
        nodes = -(-n // width)
        levels.append(np.array([[float(u // width == v) for u in range(n)] for v in range(nodes)]))
        width *= branching
    return levels


def least_squares(n, branching, shares=None):
    """(n, nodes) and (n,): leaf counts from all node estimates and the total, by least squares under the sum constraint, the squares
    of each level having the weight ``shares`` (h,)."""
    tree = level_matrices(n, branching)
    T = np.vstack(tree)
    roots = np.ones(len(T)) if shares is None else np.repeat(np.sqrt(shares), list(map(len, tree)))
    free = np.vstack([np.eye(n - 1), -np.ones(n - 1)])  # counts that sum to zero
    even = np.full(n, 1 / n)
    from_nodes = free @ np.linalg.pinv(roots[:, None] * T @ free) * roots
    return from_nodes, even - from_nodes @ (T @ even)


def fewest_nodes(levels, low, high):
    """Indicator over the nodes of each of the ``levels`` of those that make up low..high, by recursion from the last: a single type is
    its leaf."""
    found = [np.zeros(len(level)) for level in levels]

    def cover(level, node):
        types = np.flatnonzero(levels[level][node])
        if types[-1] < low or types[0] > high:
            return
        if low <= types[0] and types[-1] <= high and not (low == high and level > 0):
            found[level][node] = 1
            return
        for child in np.flatnonzero(levels[level - 1] @ levels[level][node]):
            cover(level - 1, child)

    for node in range(len(levels[-1])):
        cover(len(levels) - 1, node)
    return found
