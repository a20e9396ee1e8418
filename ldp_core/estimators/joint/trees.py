"""The sets of attributes that a model follows: sets that form a tree, chosen so that following them
saves the most error.

A family of sets is a tree (an acyclic hypergraph) if its maximum spanning tree by overlaps counts
every attribute once. The sizes of the sets less the overlaps along the tree then give the number of
attributes (Bernstein and Goodman 1981).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scipy.cluster.hierarchy import DisjointSet

from ldp_core.anova import Set, subsets
from ldp_core.estimators.joint.evidence import Evidence


def chosen(sizes: Sequence[int], known: Mapping[Set, Evidence], most_cells: int) -> list[Set]:
    """The sets to follow, none within another, together of at most ``most_cells`` cells, every attribute in one at least.

    Pairs make the forest of largest gain (Kruskal's algorithm, which is exact; Chow and Liu 1968 for the likelihood). Larger sets
    join after them, by the gain of what is new in them, where the whole remains a tree. Sets that gain nothing are left out.
    """
    chosen_sets: list[Set] = [(i,) for i in range(len(sizes))]
    followed: set[Set] = set(chosen_sets)
    apart = DisjointSet(range(len(sizes)))

    def gain(candidate: Set) -> float:
        return sum(known[part].gain for part in subsets(candidate) if len(part) > 1 and part not in followed)

    for size in range(2, max(map(len, known), default=0) + 1):
        candidates = [
            members
            for members in known
            if len(members) == size and all(part in known for part in subsets(members) if part)
        ]
        for members in sorted(candidates, key=gain, reverse=True):
            if gain(members) <= 0 or (size == 2 and apart.connected(*members)):
                continue
            grown = [other for other in chosen_sets if not set(other) <= set(members)] + [members]
            if cells(sizes, grown) > most_cells or (size > 2 and not is_tree(grown)):
                continue
            chosen_sets = grown
            followed |= set(subsets(members))
            for i in members[1:]:
                apart.merge(members[0], i)
    return sorted(chosen_sets)


def cells(sizes: Sequence[int], sets: Sequence[Set]) -> int:
    """Cells of the tables over all these ``sets``."""
    return sum(math.prod(sizes[i] for i in members) for members in sets)


def is_tree(sets: Sequence[Set]) -> bool:
    """True if the sets form a tree: each set's attributes that it shares with the rest lie in one other set."""
    overlaps = sum(len(shared) for _, _, shared in spanning(sets))
    return sum(map(len, sets)) - overlaps == len(set().union(*sets))


def spanning(sets: Sequence[Set]) -> list[tuple[int, int, Set]]:
    """A maximum spanning tree by overlaps: (place of a set, place of its parent, shared
    attributes), parents first. The first set, and each set that shares nothing, has the parent -1
    (Prim's algorithm)."""
    members = [frozenset(group_of_sets) for group_of_sets in sets]
    nearest = dict.fromkeys(range(len(sets)), (0, -1))
    edges: list[tuple[int, int, Set]] = []
    while nearest:
        place = max(nearest, key=lambda k: nearest[k][0])
        overlap, parent = nearest.pop(place)
        edges.append((place, parent, tuple(sorted(members[place] & members[parent])) if overlap else ()))
        for k in nearest:
            nearest[k] = max(nearest[k], (len(members[k] & members[place]), place))
    return edges
