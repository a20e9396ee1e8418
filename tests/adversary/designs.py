"""Random valid designs, small enough that everything about them can be built; names are hostile where that is allowed."""

import base64
import random
import struct
import zlib
from typing import Any

from hostile import text

LARGE = zlib.compress(bytes(2**24))
"""Much that comes packed as little."""


def name(rng: random.Random) -> str:
    return (rng.choice(["age", "sex", "place", "height (cm)"]) if rng.random() < 0.5 else text(rng)) or "a"


def distinct(rng: random.Random, draw: Any, low: int, high: int) -> list[str]:
    found = dict.fromkeys(draw(rng) for _ in range(rng.randint(low, high)))
    return list(found)


def categories(rng: random.Random) -> list[str]:
    found = [value for value in dict.fromkeys(text(rng).strip() for _ in range(rng.randint(1, 5))) if value]
    return found or ["yes", "no"]


def attribute(rng: random.Random, called: str) -> dict[str, Any]:
    shared = {"name": called, "missing": rng.choice(["drop", "category", "refuse"])}
    kind = rng.randrange(4)
    if kind == 0:
        ordered = rng.random() < 0.5
        return {**shared, "kind": "categorical", "values": categories(rng), "ordered": ordered, "outside": "other"}
    if kind == 1:
        edges = sorted(
            {rng.choice([rng.uniform(-5, 5), float(rng.randint(-50, 50))]) for _ in range(rng.randint(2, 5))}
        )
        return {**shared, "kind": "numeric", "edges": edges if len(edges) > 1 else [0.0, 1.0], "outside": "clamp"}
    if kind == 2:
        low, bins = float(rng.randint(-9, 9)), rng.randint(1, 5)
        return {**shared, "kind": "range", "low": low, "high": low + bins * rng.choice([1, 2, 10]), "bins": bins}
    unit = rng.choice(["day", "week", "month", "quarter", "year"])
    ends = {
        "day": ("2025-02-27", "2025-03-01"),
        "week": ("2024-W52", "2025-W02"),
        "month": ("2025-01", "2025-04"),
        "quarter": ("2025-Q1", "2025-Q3"),
        "year": ("2020", "2024"),
    }[unit]
    return {**shared, "kind": "date", "unit": unit, "first": ends[0], "last": ends[1]}


def part(rng: random.Random, names: list[str]) -> dict[str, Any]:
    chosen = rng.choice(names)
    group = rng.sample(names, rng.randint(1, len(names)))
    made: dict[str, Any] = rng.choice(
        [
            {"kind": "histogram", "attribute": chosen},
            {"kind": "joint_histogram"},
            {"kind": "prefix", "attribute": chosen, "by": [other for other in group if other != chosen]},
            {"kind": "ranges", "attribute": chosen, "width": rng.choice([None, 1, 2, 99])},
            {"kind": "marginals", "groups": [group]},
            {"kind": "k_way_marginals", "k": rng.randint(1, 3)},
            {"kind": "all_marginals"},
            {"kind": "parity", "attributes": rng.choice([None, group]), "max_weight": rng.choice([None, 0, 2])},
            {"kind": "predicates", "predicates": [{"expression": f'"{chosen}" = "yes"', "name": None}]},
            {"kind": "types", "family": rng.choice(["histogram", "prefix", "all_range"]), "parameters": {}},
            {"kind": "types", "family": "width_range", "parameters": {"width": rng.randint(1, 4)}},
            *(
                {"kind": kind, "attribute": chosen, "by": [other for other in group if other != chosen]}
                for kind in ("mean", "total")
            ),
            {"kind": "rectangles", "attributes": [chosen, rng.choice(names)]},
        ]
    )
    if rng.random() < 0.1:
        made = {"kind": "share", "of": {**made, "weight": 1.0}, "within": group}
    elif rng.random() < 0.1:
        made = {
            "kind": "difference",
            "of": {**made, "weight": 1.0},
            "attribute": chosen,
            "first": "yes",
            "second": "no",
        }
    return {**made, "weight": rng.choice([1.0, 0.5, 1e-6, 1e6])}


def target(rng: random.Random) -> Any:
    difference = {"difference": rng.choice([0.05, 1.0]), "power": 0.8, "level": rng.choice([0.05, 1e-4])}
    return rng.choice([difference, 2.5, 1e-300, 1e12])


def rates(rng: random.Random) -> dict[str, Any]:
    """Ratios within groups and the sizes of these, for one group or two that are compared."""
    sides, many = rng.choice([1, 2]), rng.randint(1, 6)
    ratios = [[rng.choice([None, 0.0, 0.31, 1.0, -2e9]) for _ in range(many)] for _ in range(sides)]
    sizes = [[rng.choice([0.0, 0.5, 1.0, 1e-300]) for _ in range(many)] for _ in range(sides)]
    return {"ratios": ratios, "sizes": sizes, "spread": rng.choice([0.0, 4.2])}


def recipe(rng: random.Random) -> dict[str, Any]:
    column = {"column": name(rng), "missing": rng.choice(["drop", "category", "refuse"])}
    return rng.choice(
        [
            {**column, "kind": "categorical", "categories": categories(rng), "merges": [{"name": "x", "texts": ["y"]}]},
            {**column, "kind": "categorical", "categories": None, "rare_below": 3},
            {**column, "kind": "numeric", "method": "own_edges", "edges": [0.0, 1.5, 3.0]},
            {**column, "kind": "numeric", "method": "range", "low": 0.0, "high": 12.0, "bins": 4, "integer": True},
            {**column, "kind": "numeric", "method": "equal_count", "bins": 7},
            {**column, "kind": "date", "unit": "month", "first": "2025-01", "last": "2025-06"},
        ]
    )


def data(rng: random.Random) -> dict[str, Any] | None:
    recipes = [recipe(rng) for _ in range(rng.randint(1, 3))]
    return rng.choice(
        [
            None,
            {"source": "declared", "recipes": recipes},
            {"source": "sample", "file": "ages.csv", "recipes": recipes},
            {
                "source": "upload",
                "recipes": recipes,
                "counts": rng.choice([None, "n"]),
                "query": rng.choice([None, "x"]),
            },
        ]
    )


def matrix(rng: random.Random) -> str:
    """A strategy matrix from a file as a design holds it, most often a sound one."""
    types = rng.choice([2, 3, 5])
    own = rng.choice([33, 40, 48, 63]) / 64  # what is left is shared exactly: by 1, 2 or 4
    table = [[own if y == u else (1 - own) / (types - 1) for u in range(types)] for y in range(types)]
    if rng.random() < 0.1:
        table[0][0] = rng.choice([own + 2.0**-53, 0.0, -own, float("nan"), float("inf"), 1e308])
    numbers = zlib.compress(b"".join(struct.pack("<d", value) for row in table for value in row))
    if rng.random() < 0.1:
        numbers = rng.choice([numbers[:-9], zlib.compress(b""), LARGE])
    size = rng.choice([f"{types}x{types}"] * 9 + [f"{types + 1}x{types}", "1000000x1000000", "0x2", text(rng)])
    return f"{size}:{base64.b64encode(numbers).decode()}"


def document(rng: random.Random) -> dict[str, Any]:
    """A document of the present version that is valid, except perhaps in how its parts fit
    together."""
    names = distinct(rng, name, 1, 3)
    told = rng.choice([{}] * 4 + [{"centre": 0.25}, {"concentration": 0.5, "draw": 3}])
    shapes = {0: ["data", "uniform", "zipf", "bell"], 1: ["cauchy"], 2: ["dirichlet"]}[len(told)]
    return {
        "format": "ldp-design",
        "version": 10,
        "data": data(rng),
        "domain": rng.choice([None, *[{"attributes": [attribute(rng, called) for called in names]}] * 5]),
        "population": {
            "users": rng.choice([None, 1, 3000, 10**9]),
            "origin": rng.choice(["declared", "data"]),
            "shape": rng.choice(shapes),
            **told,
        },
        "workload": rng.choice([None, *[{"parts": [part(rng, names) for _ in range(rng.randint(1, 3))]}] * 5]),
        "epsilon": rng.choice(["1", "0.5", "1e-1", "20", "0.001", ".5", "2."]),
        "reports_per_user": rng.choice([1, 2, 1000]),
        "mechanism": rng.choice(
            [
                {
                    "name": rng.choice(["optimized", "haar", "hierarchical", text(rng)]),
                    "parameters": rng.choice([{}, {"branching": 4}]),
                },
                {"name": "own", "parameters": {"matrix": matrix(rng)}},
            ]
        ),
        "compared": ["randomized_response", text(rng), *rng.choice([[], ["oue(reconstruction=standard)"]])],
        "targets": rng.choice([None, {rng.choice(["points", "points of the group", *names]): target(rng)}]),
        "planning": rng.choice(["people", "even"]),
        "rates": rng.choice([None, [rng.choice([None, rates(rng)]) for _ in range(rng.randint(1, 3))]]),
        "types": rng.choice(["distinguished", "all"]),
        "simulation": {"seed": rng.choice([0, 2**63 - 1]), "trials": 20, "estimators": ["unbiased"]},
        "optimizer": {
            "seed": 0,
            "max_rounds": None,
            "rows": None,
            "aim": rng.choice([None, "worst_case", "histogram"]),
            "histogram": rng.choice([None, [1.0, 2.5, 0.0]]),
            "time_limit": rng.choice([None, 1.0, 3600.0]),
        },
    }
