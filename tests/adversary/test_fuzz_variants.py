"""Names of variants: valid ones, with parameters and values of other mechanisms, doubled, cut and misspelt."""

from fuzzing import attack, tried
from hypothesis import strategies as st

from ldp_core import library, mechanisms, workloads

PIECES = [
    "branching",
    "oracle",
    "delta",
    "seed",
    "prior",
    "callback",
    "time_limit",
    "oue",
    "4",
    "9" * 30,
    "é",
    "\0",
    "(",
]
VALUES = ["2", "3", "16", "1000000000", "-1", "1e-7", "1e-99", "0.5", "hrr", "optimal", "paper", "None", "random", ""]
WORKLOAD = workloads.histogram(8)
strange = st.tuples(st.sampled_from(PIECES), st.sampled_from(["=", " = ", "=="]), st.sampled_from(VALUES)).map("".join)


@st.composite
def names(draw):
    spec = draw(st.sampled_from(list(library.REGISTRY.values())))
    pairs = draw(st.just([]) | st.just([]) | st.lists(strange, max_size=1))
    for name, kind in spec.settings.items():
        pairs += [f"{name}={draw(st.sampled_from([*map(str, kind.offered or ()), *VALUES]))}"] * draw(st.integers(0, 1))
    name = f"{spec.name}({draw(st.sampled_from([',', ', ', ';'])).join(pairs)})"
    if draw(st.integers(0, 9)):
        return name
    cut = draw(st.integers(0, len(name) - 1))
    return name[:cut] + draw(st.sampled_from(["", *PIECES])) + name[cut + 1 :]


@attack(names())
def test_names(name):
    found = tried(library.spec, name)
    if found is None:
        return False
    assert library.spec(found.name).fixed == found.fixed
    assert found.mechanism == found.name or found.title.startswith(library.spec(found.mechanism).title)
    if not found.fitted:
        made = tried(mechanisms.create, name, epsilon=1.0, workload=WORKLOAD)
        assert made is None or made.audit().epsilon <= 1.0 or "paper" in found.fixed.values()
    return True
