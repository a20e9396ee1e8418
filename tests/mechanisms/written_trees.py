"""Trees written out from their definition: levels, least squares, and every possible report."""

import itertools
import math

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


def outputs_of(oracle):
    """Every report of an oracle with its probability for each type."""
    m = oracle.n
    if oracle.name == "olh":
        return hashes_of(oracle)
    rows = {
        "oue": lambda: itertools.product((0, 1), repeat=m),
        "subset_selection": lambda: itertools.combinations(range(m), oracle.size),
    }.get(oracle.name, lambda: [(y,) for y in range(len(oracle.strategy))])()
    return list(zip(rows, oracle.strategy, strict=True))


def hashes_of(oracle):
    """The reports of OLH whose key and offset are 0: another key renames the buckets of each type, and another offset all buckets."""
    g, digits, E = oracle.buckets, oracle.digits, math.exp(oracle.epsilon)
    zero, types = np.zeros((1, 1), dtype=np.uint64), np.arange(oracle.n)
    found = []
    for coefficients in itertools.product(range(g), repeat=digits):
        hashed = oracle._keyed(zero, types)[0]
        hashed = (hashed + sum(c * (types >> i & 1) for i, c in enumerate(coefficients))) % g
        for bucket in range(g):
            chances = np.where(hashed == bucket, E, 1.0) / (E + g - 1) / g**digits
            found.append(((0, *coefficients, 0, bucket), chances))
    return found


def possible_reports(mechanism, shares=None):
    """Every raw report with its probability for each type: [(raw row, (n,) probabilities)]."""
    found = []
    shares = np.full(mechanism.tree.height, 1 / mechanism.tree.height) if shares is None else shares
    like = mechanism.privatize(np.zeros(1, dtype=int), np.random.default_rng(0))
    for level, (oracle, nodes) in enumerate(zip(mechanism.oracles, mechanism.tree.widths, strict=True)):
        for row, chances in outputs_of(oracle):
            raw = np.zeros(like.shape[1], dtype=like.dtype if like.dtype == np.uint64 else int)
            raw[0], raw[1 : 1 + len(row)] = level, row
            found.append((raw, shares[level] * chances[np.arange(mechanism.n) // nodes]))
    return found
