"""Tables of people by attribute, and of the queries and groups that make up the error."""

import numpy as np
import pandas as pd
import pytest

from ldp_core import frames, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute

AGE = RangeAttribute(name="age", low=0, high=29, bins=3, integer=True)
SEX = CategoricalAttribute(name="sex", values=("<b>", "=1+1"), missing="category")
DOMAIN = Domain(attributes=(AGE, SEX))


def test_marginals_are_counted_from_the_records():
    rng = np.random.default_rng(0)
    people = rng.integers(0, DOMAIN.size, 200)
    table = frames.per_attribute(DOMAIN, np.bincount(people, minlength=DOMAIN.size))
    assert list(table.columns) == ["attribute", "type", "users", "share"]
    assert table["attribute"].tolist() == ["age"] * 3 + ["sex"] * 3
    assert table["type"].tolist() == [*AGE.labels, *SEX.labels]
    records = DOMAIN.decode(people)
    for row in table.itertuples():
        assert row.users == (records[row.attribute] == row.type).sum()
        assert row.share == row.users / 200
    assert pd.api.types.is_integer_dtype(table["users"])


def test_marginals_of_nobody_and_of_other_counts():
    assert (frames.per_attribute(DOMAIN, np.zeros(9))["share"] == 0).all()
    with pytest.raises(ValueError, match="each of the 9 types"):
        frames.per_attribute(DOMAIN, np.zeros(8))


def test_shares_of_a_weighted_union_by_hand():
    union = workloads.union([workloads.histogram(2), workloads.prefix(2)], [3.0, 0.5])
    # Weighted variances; without weights the standard errors are sqrt(9)/3, sqrt(36)/3, sqrt(4)/0.5 and sqrt(1)/0.5.
    table = frames.query_shares(union, np.array([9.0, 36.0, 4.0, 1.0]), ["a", "b"], most=3)
    assert list(table.columns) == ["query", "name", "share", "standard_error", "group"]
    assert table["query"].tolist() == [1, 0, 2]
    assert table["name"].tolist() == ["b", "a", "up to a"]
    assert table["share"].tolist() == pytest.approx([0.72, 0.18, 0.08])
    assert table["standard_error"].tolist() == pytest.approx([2, 1, 4])
    assert table["group"].tolist() == [0, 0, 1]
    groups = frames.group_shares(union, np.array([9.0, 36.0, 4.0, 1.0]), ["types", "totals"])
    assert groups.to_dict("list") == {"group": ["types", "totals"], "queries": [2, 2], "share": [0.9, 0.1]}


def test_standard_errors_are_those_of_the_queries_alone():
    counts = np.arange(1, 5)
    parts = [workloads.prefix(4), workloads.all_range(4)]
    C = mechanisms.create("hadamard", 4, 1.0).covariance(counts)
    union = workloads.union(parts, [0.2, 7.0])
    table = frames.query_shares(union, union.query_variances(C), most=union.num_queries)
    assert table["share"].sum() == pytest.approx(1)
    assert table["share"].is_monotonic_decreasing
    for row in table.itertuples():
        part, own = parts[row.group], row.query - union.offsets[row.group]
        w = part.rows(np.array([own]))[0]
        assert row.standard_error == pytest.approx(np.sqrt(max(0.0, w @ C @ w)), abs=1e-6)
        assert row.name == part.query_name(int(own))
    groups = frames.group_shares(union, union.query_variances(C), ["a", "b"])
    assert groups["share"].tolist() == pytest.approx(table.groupby("group")["share"].sum().tolist())


def test_any_other_workload_is_one_group():
    variances = np.array([1.0, 3.0])
    assert frames.query_shares(workloads.histogram(2), variances)["group"].tolist() == [0, 0]
    groups = frames.group_shares(workloads.histogram(2), variances, ["all"])
    assert groups.to_dict("list") == {"group": ["all"], "queries": [2], "share": [1.0]}
    with pytest.raises(ValueError, match="1 groups of queries and 2 names"):
        frames.group_shares(workloads.histogram(2), variances, ["a", "b"])
