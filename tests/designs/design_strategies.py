"""Random designs of every kind, valid piece by piece; the pieces fit together only by chance."""

import string

import numpy as np
from hypothesis import strategies as st

from ldp_core import workloads as w
from ldp_core.data.domain import CategoricalAttribute, DateAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.data.population import CONCENTRATIONS
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, Merge, NumericRecipe, ReadOptions
from ldp_core.designs import (
    Configuration,
    DeclaredData,
    DifferenceToDetect,
    MechanismRecipe,
    Optimizer,
    Population,
    SampleData,
    Simulation,
    UploadedData,
    WorkloadRecipe,
)
from ldp_core.library.table_strategies import is_own

texts = st.text(max_size=8)
names = st.text(min_size=1, max_size=8)
mechanism_names = names.filter(lambda name: not is_own(name))  # a matrix of one's own must be in the design
whole = st.integers(0, 10**6)
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.booleans(), st.integers(-(10**15), 10**15), floats, texts)
parameters = st.dictionaries(texts, scalars, max_size=3)
origins = st.sampled_from(["declared", "data"])
missing = st.sampled_from(["drop", "category", "refuse"])
outside = st.sampled_from(["other", "clamp", "refuse"])
refused = st.sampled_from(["refuse", "missing"])
units = st.sampled_from(["day", "week", "month", "quarter", "year"])
seeds = st.integers(0, 2**63 - 1)


def several(of, **sizes):
    return st.lists(of, max_size=3, **sizes).map(tuple)


def perhaps(of):
    return st.none() | of


recipes = st.one_of(
    st.builds(
        CategoricalRecipe,
        column=names,
        missing=missing,
        categories=perhaps(several(texts)),
        merges=several(st.builds(Merge, name=names, texts=several(texts)), unique_by=lambda merge: merge.name),
        ordered=perhaps(st.booleans()),
        rare_below=whole,
        outside=st.sampled_from(["other", "refuse"]),
        origin=origins,
    ),
    st.builds(
        NumericRecipe,
        column=names,
        missing=missing,
        method=st.sampled_from(["equal_width", "equal_count", "own_edges", "range"]),
        bins=st.integers(1, 4096),
        edges=several(floats),
        low=perhaps(floats),
        high=perhaps(floats),
        integer=perhaps(st.booleans()),
        outside=outside,
        non_numbers=refused,
        origin=origins,
    ),
    st.builds(
        DateRecipe,
        column=names,
        missing=missing,
        unit=units,
        first=perhaps(texts),
        last=perhaps(texts),
        day_first=perhaps(st.booleans()),
        outside=outside,
        non_dates=refused,
    ),
)
some_recipes = st.lists(recipes, min_size=1, max_size=3)
readings = st.builds(
    ReadOptions,
    delimiter=st.sampled_from([None, ",", ";", "\t", "|"]),
    decimal=st.sampled_from([None, ".", ","]),
    header=perhaps(st.booleans()),
    names=several(texts),
    sheet=perhaps(texts),
)
data_choices = st.one_of(
    st.builds(SampleData, file=st.text(string.ascii_letters, min_size=1).map("{}.csv".format), recipes=some_recipes),
    st.builds(
        UploadedData, recipes=some_recipes, counts=perhaps(names), reading=readings, query=perhaps(st.text(max_size=30))
    ),
    st.builds(DeclaredData, recipes=some_recipes),
)

values = st.lists(texts.map(str.strip).filter(bool), min_size=1, max_size=5, unique=True)
attributes = st.one_of(
    st.tuples(values, st.booleans()).flatmap(
        lambda drawn: st.builds(
            CategoricalAttribute,
            name=names,
            values=st.just(tuple(drawn[0][:1] if drawn[1] else drawn[0])),
            merged=st.just(tuple((text, drawn[0][0]) for text in drawn[0][1:]) if drawn[1] else ()),
            ordered=st.booleans(),
            missing=missing,
            outside=st.sampled_from(["other", "refuse"]),
            origin=origins,
        )
    ),
    st.builds(
        NumericAttribute,
        name=names,
        edges=st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=5, unique=True).map(sorted).map(tuple),
        binning=st.sampled_from(["equal_width", "equal_count", "own_edges"]),
        missing=missing,
        outside=outside,
        non_numbers=refused,
        origin=origins,
    ),
    st.builds(
        RangeAttribute,
        name=names,
        low=st.integers(-100, 0).map(float),
        high=st.integers(1, 100).map(float),
        bins=st.sampled_from([1, 2, 10**6]),
        outside=outside,
        origin=origins,
    ),
    st.builds(
        DateAttribute,
        name=names,
        unit=st.just("month"),
        first=st.integers(1, 12).map("2025-{:02}".format),
        last=st.integers(1, 12).map("2026-{:02}".format),
        day_first=perhaps(st.booleans()),
        origin=origins,
    ),
)
domains = st.lists(attributes, min_size=1, max_size=3, unique_by=lambda attribute: attribute.name).map(
    lambda found: Domain(attributes=tuple(found))
)

entries = st.floats(-100, 100).filter(bool)
matrices = st.tuples(st.integers(1, 3), st.integers(2, 3)).flatmap(
    lambda shape: st.builds(
        w.MatrixPart.of,
        st.lists(entries, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
            lambda drawn: np.array(drawn).reshape(shape)
        ),
        perhaps(st.lists(texts, min_size=shape[0], max_size=shape[0])),
        st.floats(1e-6, 1e6),
    )
)
weights = st.floats(1e-6, 1e6)
groups = st.lists(st.lists(names, min_size=1, max_size=3), min_size=1, max_size=3, unique_by=frozenset)
PARTS = {
    "histogram": st.builds(w.HistogramPart, weight=weights, attribute=names),
    "joint_histogram": st.builds(w.JointHistogramPart, weight=weights),
    "prefix": st.builds(w.PrefixPart, weight=weights, attribute=names, by=several(names)),
    "ranges": st.builds(
        w.RangesPart, weight=weights, attribute=names, width=perhaps(st.integers(1, 99)), by=several(names)
    ),
    "mean": st.builds(w.MeanPart, weight=weights, attribute=names, by=several(names)),
    "total": st.builds(w.TotalPart, weight=weights, attribute=names, by=several(names)),
    "rectangles": st.builds(w.RectanglesPart, weight=weights, attributes=st.tuples(names, names)),
    "marginals": st.builds(w.MarginalsPart, weight=weights, groups=groups),
    "k_way_marginals": st.builds(w.KWayMarginalsPart, weight=weights, k=st.integers(1, 60)),
    "all_marginals": st.builds(w.AllMarginalsPart, weight=weights),
    "parity": st.builds(
        w.ParityPart, weight=weights, attributes=perhaps(several(names)), max_weight=perhaps(st.integers(0, 60))
    ),
    "predicates": st.builds(
        w.PredicatesPart,
        weight=weights,
        predicates=several(st.builds(w.Predicate, expression=texts, name=perhaps(names)), min_size=1),
    ),
    "matrix": matrices,
    "types": st.builds(
        w.TypesPart,
        weight=weights,
        family=st.sampled_from(list(w.ON_TYPES)),
        parameters=st.dictionaries(st.sampled_from(["width", "k", "max_weight"]), whole),
    ),
}
QUESTIONS = st.one_of(*PARTS.values())
PARTS["share"] = st.builds(w.SharePart, weight=weights, of=QUESTIONS, within=several(names, min_size=1))
PARTS["difference"] = st.builds(
    w.DifferencePart, weight=weights, of=QUESTIONS, attribute=names, first=names, second=names, shares=st.booleans()
)
workload_recipes = st.builds(WorkloadRecipe, parts=st.lists(st.one_of(*PARTS.values()), min_size=1, max_size=4))

people = {"users": perhaps(st.integers(1, 10**9)), "origin": origins}
populations = st.one_of(
    st.builds(Population, **people, shape=st.sampled_from(["data", "uniform", "zipf", "bell"])),
    st.builds(
        Population,
        **people,
        shape=st.just("cauchy"),
        centre=st.floats(0, 1, exclude_min=True, exclude_max=True),
    ),
    st.builds(
        Population,
        **people,
        shape=st.just("dirichlet"),
        concentration=st.floats(*CONCENTRATIONS),
        draw=seeds,
    ),
)

configurations = st.builds(
    Configuration,
    data=perhaps(data_choices),
    domain=perhaps(domains),
    population=populations,
    workload=perhaps(workload_recipes),
    epsilon=st.floats(0.001, 20).map(repr),
    reports_per_user=st.integers(1, 1000),
    mechanism=st.one_of(
        st.builds(MechanismRecipe, name=mechanism_names, parameters=parameters),
        st.builds(
            MechanismRecipe, name=st.just("gaussian"), parameters=st.fixed_dictionaries({"delta": st.floats(0, 1)})
        ),
    ),
    compared=several(
        st.one_of(mechanism_names, st.sampled_from(["", "hierarchical()", "hierarchical(branching=16, oracle=oue)"]))
    ),
    target_alpha=st.floats(0, 1, exclude_min=True),
    difference=st.sampled_from([None, "typical", "smallest"]),
    detection=st.builds(
        DifferenceToDetect, difference=st.floats(1e-4, 1), power=st.floats(0.5, 0.9999), level=st.floats(1e-4, 0.5)
    ),
    simulation=st.builds(Simulation, seed=seeds, trials=st.integers(1, 10_000), estimators=several(texts)),
    optimizer=st.builds(
        Optimizer,
        seed=seeds,
        max_rounds=perhaps(st.integers(1, 10**6)),
        aim=st.sampled_from(["worst_case", "average", "people", "histogram"]),
        histogram=perhaps(st.lists(st.floats(1, 1e6), min_size=2, max_size=5).map(tuple)),
        time_limit=perhaps(st.floats(1, 3600)),
    ),
)
