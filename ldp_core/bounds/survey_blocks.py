"""The nuclear norm of a survey whose questions follow an order, or single out values, in blocks.

G treats the values of most attributes alike. Where questions on B do not, G mixes the components inside B and no others
(`ldp_core.anova`): sets B that share no attribute are blocks of their own, of the size of their tables, and all other components
have g_A as they do for any survey. Sets that share attributes are taken as one, on the table of all of them. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import linalg

from ldp_core.anova import Set
from ldp_core.workloads import Survey
from ldp_core.workloads.restricted import ordered_groups, ordered_sets, restricted_gram, several

MOST_CELLS = 2048
"""Largest block."""


def nuclear_at_least(survey: Survey) -> float:
    """``|W P|_* / n`` of the uniform prior (see `centred_svd`), or a number below it: groups whose blocks would have more than `MOST_CELLS`
    cells are left out, which makes no singular value larger."""
    ordered = ordered_groups(survey)
    blocks = _blocks(survey, ordered_sets(survey, ordered))
    outside = [group for group in ordered if not _inside(several(survey, group.attributes), blocks)]
    kept = [group for group in survey.groups if not any(group is other for other in outside)]
    if not kept:
        return 0.0
    asked = Survey(survey.shape, kept)
    known = asked.components
    total = math.fsum(
        dims * math.sqrt(value)
        for members, dims, value in zip(known.sets, known.dims, known.gram, strict=True)
        if not _inside(members, blocks)
    )
    for block in blocks:
        gram = restricted_gram(asked, block)
        gram = gram - gram.mean(axis=0)
        gram = (gram - gram.mean(axis=1, keepdims=True)) / len(gram)
        total += float(np.sqrt(np.maximum(linalg.eigvalsh(gram), 0)).sum())
    return total


def _inside(members: Set, blocks: Sequence[Set]) -> bool:
    return any(set(members) <= set(block) for block in blocks)


def _blocks(survey: Survey, sets: Sequence[Set]) -> list[Set]:
    """The attributes of each block: sets that share some are one, as long as its table is not too large."""
    blocks: list[Set] = []
    for members in sets:
        touched = [block for block in blocks if set(block) & set(members)]
        merged = tuple(sorted(set(members).union(*touched)))
        if math.prod(survey.shape[i] for i in merged) <= MOST_CELLS:
            blocks = [*(block for block in blocks if block not in touched), merged]
    return blocks
