"""Tables of people by attribute, and of the queries and groups that make up the error."""

import numpy as np
import pandas as pd

from ldp_core import frames
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from tests.refused import refused

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
    refused("each of the 9 types", frames.per_attribute, DOMAIN, np.zeros(8))
