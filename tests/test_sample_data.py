"""Sample data: reproducible, small, and what the catalogue says of it works."""

import json
from pathlib import Path

import pytest

from ldp_core import bounds
from ldp_core.data import columns, tables
from ldp_core.designs import SampleData
from ldp_core.people import people_of
from ldp_core.workloads import Detect, default_parts, over_attributes
from sample_data import make

FOLDER = Path(make.__file__).parent
CATALOGUE = json.loads((FOLDER / "catalogue.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", make.TABLES)
def test_making_a_file_again_gives_the_same_bytes(file):
    assert make.content(file) == (FOLDER / file).read_bytes()


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry["file"])
def test_one_click_gives_counts(entry):
    assert set(entry) == {"file", "title", "sentence", "recipes"}
    content = (FOLDER / entry["file"]).read_bytes()
    assert len(content) < 2**20
    table = tables.load(content, entry["file"]).table
    assert 2_000 <= len(table) <= 20_000
    assert f"{len(table):,}" in entry["sentence"]
    recipes = SampleData(file=entry["file"], recipes=entry["recipes"]).recipes
    domain = tables.build_domain(recipes, table)
    tally = tables.tally(table, domain)
    assert all(
        len(a.labels) == getattr(recipe, "bins", len(a.labels))
        for a, recipe in zip(domain.attributes, recipes, strict=True)
    )
    columns = table[[recipe.column for recipe in recipes]]
    missing = columns.apply(lambda column: column.str.strip().isin(["", "N/A", "?"])).any(axis=1).sum()
    people = people_of(tally.counts, domain.shape)
    assert people.users == tally.users == len(table) - missing
    assert tally.dropped == missing
    expected = "64 combinations" in entry["sentence"]
    assert (domain.shape == (2,) * 6) == expected
    many = "1.45 billion combinations" in entry["sentence"]
    assert (domain.shape == (16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2)) == many == (round(domain.size / 1e9, 2) == 1.45)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry["file"])
def test_the_treatment_offered_first_is_the_one_that_suits_the_column(entry):
    """Unless all of it is declared, such as the ends of a scale that people were asked to use."""
    table = tables.load((FOLDER / entry["file"]).read_bytes(), entry["file"]).table
    for recipe in SampleData(file=entry["file"], recipes=entry["recipes"]).recipes:
        assert recipe.declared or recipe.kind == tables.suggest_recipe(columns.parse(table[recipe.column])).kind


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry["file"])
def test_the_first_targets_can_be_reached(entry):
    """Epsilon is 1, and people needed are bounded by the singular values: a first visitor of a sample is not asked for more people, but for the
    difference of the experiment, whose two arms of 1,500 people find none of 5 points."""
    table = tables.load((FOLDER / entry["file"]).read_bytes(), entry["file"]).table
    domain = tables.build_domain(SampleData(file=entry["file"], recipes=entry["recipes"]).recipes, table)
    people = people_of(tables.tally(table, domain).counts, domain.shape)
    asked = over_attributes(default_parts(domain), domain, counts=people).questionnaire
    assert [line.target for line in asked.lines[1:]] == [Detect(5.0)] * ("experiment" in entry["file"])
    first = asked.lines[0]
    assert 0.5 <= first.target <= 10
    if domain.size <= 64:
        alone = over_attributes(default_parts(domain)[:1], domain, {first.key: first.target}, people)
        limit = bounds.centred_svd(alone, 1.0)
        assert (limit - alone.trace) / alone.n / alone.questionnaire.norm <= people.users
