"""Uploads, columns and bins, declared domains, and what happens to a choice that does not work."""

import numpy as np
import pandas as pd
import pytest

CSV = b"age,colour\n20,red\n30,blue\n40,red\n50,\n60,green\n,red\n"


def numbers(app):
    return app.upload("people.csv", CSV).kind("age", "numbers")


def test_csv_upload_offers_its_first_column(app):
    app.upload("people.csv", CSV)
    assert app.configuration.data.recipes[0].column == "age"
    assert app.session.tally.users == 5
    assert "Left out 1" in app.words
    assert "First of 6 rows, 2 columns." in app.words
    app.columns("colour")
    assert app.session.setting.labels == ("blue", "green", "red")
    assert app.session.setting.counts.tolist() == [1, 1, 3]


def test_own_edges_and_values_beyond_them(app):
    numbers(app).bins("age", "3")
    assert app.session.setting.domain.size == 3
    app.bins("age", "25; 45; 55")
    assert "outside" in app.errors[0]
    assert app.session.setting.domain.size == 3  # the design keeps its bins while the edges do not work
    app.enter("selectbox", "data-outside", "clamp")
    assert not app.errors
    assert app.session.setting.counts.tolist() == [3, 2]
    assert "2 of 6 users have a value of age outside the domain and were moved to the nearest end." in app.words


def test_declared_range_has_the_expected_users_and_shape(app):
    app.go("data").declare("0", "100", 10, users="2,000")
    design = app.session.setting
    assert (design.users, design.domain.size, design.on_data) == (2000, 10, False)
    assert set(design.counts) == {200}
    assert "No data is loaded: this is the population you expect." in app.words
    app.enter("selectbox", "declare-shape", "zipf")
    assert app.session.setting.counts[0] > 2 * app.session.setting.counts[3]
    assert app.session.setting.users == 2000


def test_declared_people_around_a_centre_and_drawn_at_random(app):
    app.go("data").declare("0", "100", 10, users="2,000")
    app.enter("selectbox", "declare-shape", "cauchy")
    assert app.control("text_input", "declare-centre").value == "0.4"
    app.enter("text_input", "declare-centre", "0.75")
    design = app.session.setting
    assert (design.users, design.counts.argmax()) == (2000, 7)
    app.enter("text_input", "declare-centre", "1.5")
    assert "1.5 should be less than 1" in app.words
    assert app.configuration.population.centre == 0.75
    app.enter("selectbox", "declare-shape", "dirichlet").enter("text_input", "declare-concentration", "1000")
    assert app.configuration.population.parameters == {"concentration": 1000.0, "draw": 0}
    assert not app.has("text_input", "declare-centre")


def test_expected_users_do_not_touch_the_data_at_hand(ages):
    before = ages.configuration
    ages.go("data").enter("segmented_control", "data-source", "declared").enter("text_input", "declare-users", "77")
    assert ages.configuration == before
    ages.cells({"value": {"column": "answer", "bins": "yes, no"}})
    assert ages.session.setting.users == 77


def test_spellings_of_one_value_are_pointed_out_and_merged_by_one_button(app):
    app.upload("people.csv", b"smokes,a\nYes,1\nyes,2\nyes,1\nno,2\nNo ,1\n").press("data-all")
    before = app.configuration
    assert 'smokes: "No", "no" and "Yes", "yes" look alike.' in app.words
    app.press("data-merge-0")
    assert app.session.setting.domain.attributes[0].values == ("No", "yes")
    assert app.session.tally.users == 5
    assert not app.has("button", "data-merge-0")
    assert app.press("undo").configuration == before


@pytest.mark.parametrize(
    ("cells", "said", "label", "users"),
    [
        (b"None\na\nb\nNone\n", '"None" in x counts as missing (2 users).', "Keep as an answer", 4),
        (
            b"45%\n7%\n8 %\n",
            '"45%" in x counts as a text; it could be the number 45 with the unit %.',
            "Numbers in bins",
            3,
        ),
        (
            b"2024-01-01\n2024-02-01\n2024-03-01\n2024-04-01\n9999-12-31\n",
            '"9999-12-31", count in the end',
            "All dates",
            5,
        ),
    ],
)
def test_another_reading_is_one_button_away(app, cells, said, label, users):
    app.upload("people.csv", b"x\n" + cells)
    assert said in app.words
    key = next(button.key for button in app.at.button if button.label == label)
    before = app.configuration
    app.press(key)
    assert app.session.tally.users == users
    assert app.configuration.data.recipes != before.data.recipes
    assert app.press("undo").configuration == before


def test_amounts_that_are_too_many_for_categories_are_numbers_at_one_press(app):
    rows = "".join(f'{"mf"[i % 2]},"${i:,}.50"\n' for i in range(1000, 4000))
    app.upload("people.csv", f"sex,price\n{rows}".encode()).columns("price")
    assert "3,000 distinct values in price" in app.errors[0]
    assert '"$1,000.50" in price counts as a text; it could be the number 1000.5 with the unit $.' in app.words
    app.press("data-reading-0-0-0")
    assert (app.errors, app.session.setting.domain.attributes[0].unit) == ([], "$")


def test_an_order_that_is_not_known_is_said_beside_yes_and_opens_the_table_that_puts_it_right(app):
    app.upload("people.csv", b"mood\nblue\nred\ngreen\nred\n").enter("selectbox", "data-ordered", True)
    assert '"blue", "green", "red" in mood stand in the order of the alphabet' in app.words
    assert [one.proto.expanded for one in app.at.expander if one.label == "Edit the categories of mood"] == [True]


def test_codes_for_no_answer_are_named_and_missing_at_one_press(app):
    ages = np.random.default_rng(0).integers(18, 81, 400)
    app.upload("people.parquet", pd.DataFrame({"age": [*ages, *[999] * 8]}).to_parquet())
    assert "999 in age (8 users): a number so far from all others may be a code for no answer." in app.words
    assert "lie far from all others" not in app.words
    app.press("data-reading-0-0-0")
    attribute = app.session.setting.domain.attributes[0]
    assert (app.session.tally.dropped, attribute.no_answer) == (8, (999,))
    assert attribute.edges[-1] < 85
    assert "999 in age (8 users), counted as missing." in app.words
    app.press("data-reading-0-0-0")
    assert app.session.tally.dropped == 0
