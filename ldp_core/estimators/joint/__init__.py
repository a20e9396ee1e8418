"""A joint distribution of all attributes from noisy tables of a few, and people drawn from it.

model = joint.fit(sizes, {(0, 1): (table, deviation), (1, 2): (table, deviation)}, users)
model.table((0, 2)), model.extrapolated((0, 2))     # expected users, and whether no table that was measured says so
model.people(1_000, rng)                            # value indices of synthetic people
"""

from ldp_core.estimators.joint.evidence import Evidence as Evidence
from ldp_core.estimators.joint.evidence import evidence_of as evidence_of
from ldp_core.estimators.joint.fitting import fit as fit
from ldp_core.estimators.joint.fitting import fit_evidence as fit_evidence
from ldp_core.estimators.joint.fitting import missing as missing
from ldp_core.estimators.joint.fitting import too_large as too_large
from ldp_core.estimators.joint.model import JointModel as JointModel
