"""Valid designs, small enough that everything about them can be built, as strategies; names are hostile where that is allowed."""

import base64
import math
import zlib

import hostile
import numpy as np
from hypothesis import strategies as st

LARGE = zlib.compress(bytes(2**24))
"""Much that comes packed as little."""

of, record = st.sampled_from, st.fixed_dictionaries
name = of(["age", "sex", "place", "height (cm)"]) | hostile.text.map(lambda text: text or "a")
missing = of(["drop", "category", "refuse"])
categories = st.lists(hostile.text.map(str.strip).filter(bool), min_size=1, max_size=5, unique=True)
edges = st.lists(st.floats(-5, 5) | st.integers(-50, 50).map(float), min_size=2, max_size=5, unique=True).map(sorted)
DATES = {
    "day": ("2025-02-27", "2025-03-01"),
    "week": ("2024-W52", "2025-W02"),
    "month": ("2025-01", "2025-04"),
    "quarter": ("2025-Q1", "2025-Q3"),
    "year": ("2020", "2024"),
}


def kinds(kind, **values):
    """Records of a kind; what is no strategy stays as it is."""
    fixed = {key: held if isinstance(held, st.SearchStrategy) else st.just(held) for key, held in values.items()}
    return record({"kind": st.just(kind), **fixed})


def attribute(called):
    """One attribute of a domain."""
    shared = {"name": called, "missing": missing}
    ranges = st.tuples(st.integers(-9, 9), st.integers(1, 5), of([1, 2, 10]))
    return st.one_of(
        kinds("categorical", **shared, values=categories, ordered=st.booleans(), outside="other"),
        kinds("numeric", **shared, edges=edges, outside="clamp"),
        st.tuples(kinds("range", **shared), ranges).map(
            lambda drawn: (
                drawn[0]
                | {
                    "low": float(drawn[1][0]),
                    "high": float(drawn[1][0] + drawn[1][1] * drawn[1][2]),
                    "bins": drawn[1][1],
                }
            )
        ),
        *(kinds("date", **shared, unit=unit, first=first, last=last) for unit, (first, last) in DATES.items()),
    )


@st.composite
def part(draw, names):
    """A group of questions about attributes."""
    chosen, group = draw(of(names)), draw(st.lists(of(names), min_size=1, unique=True))
    others = [other for other in group if other != chosen]
    made = draw(
        st.one_of(
            kinds("histogram", attribute=chosen),
            kinds("joint_histogram"),
            kinds(draw(of(["prefix", "mean", "total"])), attribute=chosen, by=others),
            kinds("ranges", attribute=chosen, width=of([None, 1, 2, 99])),
            kinds("marginals", groups=[group]),
            kinds("k_way_marginals", k=st.integers(1, 3)),
            kinds("all_marginals"),
            kinds("parity", attributes=of([None, group]), max_weight=of([None, 0, 2])),
            kinds("predicates", predicates=[{"expression": f'"{chosen}" = "yes"', "name": None}]),
            kinds("types", family=of(["histogram", "prefix", "all_range"]), parameters={}),
            kinds("types", family="width_range", parameters=record({"width": st.integers(1, 4)})),
            kinds("rectangles", attributes=[chosen, draw(of(names))]),
        )
    )
    weighted = {**made, "weight": 1.0}
    share = {"kind": "share", "of": weighted, "within": group}
    difference = {"kind": "difference", "of": weighted, "attribute": chosen, "first": "yes", "second": "no"}
    return {**draw(of([made] * 8 + [share, difference])), "weight": draw(of([1.0, 0.5, 1e-6, 1e6]))}


target = of([2.5, 1e-300, 1e12]) | record(
    {"difference": of([0.05, 1.0]), "power": st.just(0.8), "level": of([0.05, 1e-4])}
)


@st.composite
def rates(draw):
    """Ratios within groups and the sizes of these, for one group or two that are compared."""
    sides, many = draw(st.integers(1, 2)), draw(st.integers(1, 6))
    table = lambda values: st.lists(st.lists(of(values), min_size=many, max_size=many), min_size=sides, max_size=sides)  # noqa: E731
    ratios, sizes = draw(table([None, 0.0, 0.31, 1.0, -2e9])), draw(table([0.0, 0.5, 1.0, 1e-300]))
    return {"ratios": ratios, "sizes": sizes, "spread": draw(of([0.0, 4.2]))}


column = {"column": name, "missing": missing}
recipes = st.lists(
    st.one_of(
        kinds("categorical", **column, categories=categories, merges=[{"name": "x", "texts": ["y"]}]),
        kinds("categorical", **column, categories=None, rare_below=3),
        kinds("numeric", **column, method="own_edges", edges=[0.0, 1.5, 3.0]),
        kinds("numeric", **column, method="range", low=0.0, high=12.0, bins=4, integer=True),
        kinds("numeric", **column, method="equal_count", bins=7),
        kinds("date", **column, unit="month", first="2025-01", last="2025-06"),
    ),
    min_size=1,
    max_size=3,
)
data = st.none() | record(
    {"source": st.just("upload"), "recipes": recipes, "counts": of([None, "n"]), "query": of([None, "x"])}
)
data |= record({"source": st.just("declared"), "recipes": recipes})
data |= record({"source": st.just("sample"), "file": st.just("ages.csv"), "recipes": recipes})


@st.composite
def matrix(draw):
    """A strategy matrix from a file as a design holds it, most often a sound one."""
    types = draw(of([2, 3, 5]))
    own = draw(of([33, 40, 48, 63])) / 64  # what is left is shared exactly: by 1, 2 or 4
    table = np.full((types, types), (1 - own) / (types - 1))
    np.fill_diagonal(table, own)
    if draw(hostile.chance(10)):
        table[0, 0] = draw(of([own + 2.0**-53, 0.0, -own, math.nan, math.inf, 1e308]))
    packed = zlib.compress(table.astype("<f8").tobytes())
    if draw(hostile.chance(10)):
        packed = draw(of([packed[:-9], zlib.compress(b""), LARGE]))
    size = f"{types}x{types}"
    if draw(hostile.chance(10)):
        size = draw(of([f"{types + 1}x{types}", "1000000x1000000", "0x2"]) | hostile.text)
    return f"{size}:{base64.b64encode(packed).decode()}"


def population(shape, **told):
    users, origin = of([None, 1, 3000, 10**9]), of(["declared", "data"])
    return record(
        {"users": users, "origin": origin, "shape": shape, **{key: st.just(held) for key, held in told.items()}}
    )


@st.composite
def document(draw):
    """A document of the present version that is valid, except perhaps in how its parts fit together."""
    names = draw(st.lists(name, min_size=1, max_size=3, unique=True))
    domain = st.tuples(*map(attribute, names)).map(lambda made: {"attributes": list(made)})
    parts = st.lists(part(names), min_size=1, max_size=3).map(lambda made: {"parts": made})
    targets = st.dictionaries(of(["points", "points of the group", *names]), target, min_size=1, max_size=1)
    drawn = {
        "data": data,
        "domain": st.none() | domain | domain | domain,
        "population": population(of(["data", "uniform", "zipf", "bell"]))
        | population(st.just("cauchy"), centre=0.25)
        | population(st.just("dirichlet"), concentration=0.5, draw=3),
        "workload": st.none() | parts | parts | parts,
        "epsilon": of(["1", "0.5", "1e-1", "20", "0.001", ".5", "2."]),
        "reports_per_user": of([1, 2, 1000]),
        "mechanism": record(
            {"name": of(["optimized", "haar", "hierarchical"]) | hostile.text, "parameters": of([{}, {"branching": 4}])}
        )
        | record({"name": st.just("own"), "parameters": record({"matrix": matrix()})}),
        "compared": st.tuples(hostile.text, of([[], ["oue(reconstruction=standard)"]])).map(
            lambda named: ["randomized_response", named[0], *named[1]]
        ),
        "targets": st.none() | targets,
        "planning": of(["people", "even"]),
        "rates": st.none() | st.lists(st.none() | rates(), min_size=1, max_size=3),
        "types": of(["distinguished", "all"]),
        "simulation": record({"seed": of([0, 2**63 - 1]), "trials": st.just(20), "estimators": st.just(["unbiased"])}),
        "optimizer": record(
            {
                "seed": st.just(0),
                "max_rounds": st.none(),
                "rows": st.none(),
                "aim": of([None, "worst_case", "histogram"]),
                "histogram": of([None, [1.0, 2.5, 0.0]]),
                "time_limit": of([None, 1.0, 3600.0]),
            }
        ),
    }
    return {"format": "ldp-design", "version": 10, **draw(record(drawn))}
