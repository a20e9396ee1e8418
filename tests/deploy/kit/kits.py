"""Designs of several kinds, and their kits."""

import io
import json
import zipfile

from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.deploy.kit import audit, package
from ldp_core.designs import Configuration, MechanismRecipe, Population, Setting, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.designs.standalone import realise
from ldp_core.workloads import MarginalsPart, PrefixPart

USERS = 30_000
NASTY = "age'; touch gone #\n```\n<script>alert(1)</script> & <b>"


def ages(name="subset_selection", epsilon="1.0", attribute="age", types=16, **parameters) -> Setting:
    """Running totals over ``types`` ages, answered by the named mechanism."""
    age = NumericAttribute(name=attribute, edges=tuple(range(types + 1)), origin="declared")
    asked = WorkloadRecipe(parts=(PrefixPart(attribute=attribute),))
    return _of(Domain(attributes=(age,)), asked, name, epsilon, **parameters)


def survey(name="sampled_sets") -> Setting:
    """Two pairs of three columns, too many combinations for a table over all of them."""
    sizes = {"colour": 12, "shape": 16, "size": 17}
    columns = [
        CategoricalAttribute(name=column, values=tuple(map(str, range(size))), origin="declared")
        for column, size in sizes.items()
    ]
    pairs = MarginalsPart(groups=[("colour", "shape"), ("shape", "size")])
    return _of(Domain(attributes=columns), WorkloadRecipe(parts=(pairs,)), name, "1.0")


def _of(domain, asked, name, epsilon, **parameters) -> Setting:
    chosen = Configuration(
        domain=domain,
        population=Population(users=USERS, origin="declared", shape="uniform"),
        workload=asked,
        epsilon=epsilon,
        mechanism=MechanismRecipe(name=name, parameters=parameters),
        targets={"points": 2.0},
        optimizer=Optimizer(max_rounds=5),
    )
    return realise(chosen)


def kit_of(found: Setting) -> bytes:
    return package.kit(found)


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(contents: dict[str, bytes]) -> bytes:
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return result.getvalue()


def device_of(content: bytes) -> dict:
    return json.loads(members(content)["device.json"])


def breaks(description):
    """True where the audit refuses a description, or finds that its promise does not hold."""
    try:
        return not audit.audit(description).holds
    except ValueError:
        return True
