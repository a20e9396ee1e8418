"""Names of variants: valid ones, with parameters and values of other mechanisms, doubled, cut and misspelt."""

from fuzzing import fuzz, tried

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


@fuzz(2_000)
def test_names(rng):
    spec = library.REGISTRY[rng.choice(list(library.REGISTRY))]
    pairs = [
        f"{rng.choice(PIECES)}{rng.choice(['=', ' = ', '=='])}{rng.choice(VALUES)}"
        for _ in range(rng.choice([0, 0, 0, 1]))
    ]
    for name, kind in spec.settings.items():
        if rng.random() < 0.6:
            pairs.append(f"{name}={rng.choice([*map(str, kind.offered or ()), *VALUES])}")
    name = f"{spec.name}({rng.choice([',', ', '] * 5 + [';']).join(pairs)})"
    if rng.random() < 0.1:
        cut = rng.randrange(len(name))
        name = name[:cut] + rng.choice(["", *PIECES]) + name[cut + 1 :]
    found = tried(library.spec, name)
    if found is None:
        return False
    assert library.spec(found.name).fixed == found.fixed
    assert found.mechanism == found.name or found.title.startswith(library.spec(found.mechanism).title)
    if not found.fitted:
        made = tried(mechanisms.create, name, epsilon=1.0, workload=WORKLOAD)
        assert made is None or made.audit().epsilon <= 1.0 or "paper" in found.fixed.values()
    return True
