"""What somebody types stands and counts: while long work ends, over a slow connection, in a table of categories."""

import re

import pytest
from playwright.sync_api import expect

from ldp_core.data.domain import Domain
from ldp_core.designs import Configuration, Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import PrefixPart
from tests.browser import words
from tests.browser.conftest import until
from tests.declared import numbers

LATE = """(milliseconds) => {
    const listen = WebSocket.prototype.addEventListener;
    WebSocket.prototype.addEventListener = function (kind, heard, ...rest) {
        const late = kind === "message" ? (said) => setTimeout(() => heard(said), milliseconds) : heard;
        listen.call(this, kind, late, ...rest);
    };
}"""
"""Whatever the server says arrives late, in its order."""
PEOPLE = "".join(f"{18 + i % 60}, {['Fiji', 'France', 'Malta', 'Peru', 'Spain'][i % 5]}\n" for i in range(300))


def design(**optimizer):
    """Running totals along 256 bins, whose search takes many seconds, as a file."""
    made = Configuration(
        domain=Domain(attributes=(numbers("x", 0, 256, 256),)),
        workload=WorkloadRecipe(parts=(PrefixPart(attribute="x"),)),
        population=Population(users=10_000, origin="declared", shape="uniform"),
        optimizer=Optimizer(**optimizer),
    )
    return {"name": "configuration.json", "mimeType": "application/json", "buffer": made.to_json()}


def epsilon(visitor, value):
    """The line of the sidebar with this epsilon."""
    return visitor.sidebar.get_by_role("link", name=f"Epsilon: {value}", exact=True)


@pytest.mark.promise
def test_what_is_typed_while_work_ends_stands_and_counts(guest):
    guest.load(design(time_limit=2.0))
    guest.go("Design")
    guest.drawn()
    guest.button("optimise").click()  # the message about the file goes; later the result comes
    guest.more()
    entry, typed = guest.entry("epsilon-text"), "1."
    place = entry.element_handle()
    entry.click()
    entry.press("Control+a")
    guest.page.keyboard.type(typed)
    gap = guest.sidebar.get_by_text(words.GAP)

    def done():
        nonlocal typed
        guest.page.keyboard.type("25"[len(typed) % 2], delay=300)
        typed += "25"[len(typed) % 2]
        expect(entry).to_have_value(typed)
        return gap.count() and len(typed) >= 8

    until(guest.page, done)
    assert place.evaluate("entry => entry === document.activeElement")
    entry.press("Enter")
    expect(epsilon(guest, typed)).to_be_visible()
    guest.drawn()
    expect(entry).to_have_value(typed)
    assert place.evaluate("entry => entry === document.activeElement")


@pytest.mark.slow
def test_what_is_typed_or_undone_counts_over_a_slow_connection(visit):
    """Clocks of the page go on sending what its controls showed before the page, drawn anew, has arrived."""
    visitor = visit()
    visitor.load(design())
    visitor.page.add_init_script(f"({LATE})(700)")
    visitor.page.reload()
    visitor.go("Design")
    visitor.drawn()
    visitor.button("optimise").click()  # there is something to follow from here on
    expect(visitor.page.locator(".st-key-jobs").get_by_text(words.FITTING).first).to_be_visible()
    visitor.more()
    visitor.enter("epsilon-text", "2")
    stands(visitor, "2")
    visitor.button("undo").click()
    stands(visitor, "1")
    entry, target = visitor.entry("epsilon-text"), visitor.entry("target")
    visitor.more()
    entry.fill("0.5")
    entry.press("Enter")
    visitor.page.wait_for_timeout(300)  # the page is being drawn, and the slider has not followed
    target.fill("3")
    target.press("Enter")
    stands(visitor, "0.5")
    expect(target).to_have_value("3")
    # What is on offer may be gone when the page that offers it arrives.
    visitor.problems = [said for said in visitor.problems if "404" not in said]


def stands(visitor, value):
    """Epsilon is this, and stays it while clocks strike."""
    for _ in range(2):
        expect(epsilon(visitor, value)).to_be_visible()
        visitor.more()
        expect(visitor.entry("epsilon-text")).to_have_value(value)
        visitor.page.wait_for_timeout(1500)
    expect(epsilon(visitor, value)).to_be_visible()


def test_a_table_is_set_up_by_keyboard_and_its_categories_are_merged_in_the_table(guest):
    guest.start_anew()
    file = {"name": "people.data", "mimeType": "text/csv", "buffer": PEOPLE.encode()}
    guest.upload(file, guest.page.get_by_text(words.READ.format("people.data")))
    guest.page.get_by_text(words.READ.format("people.data")).click()
    names = guest.control("read-names").locator("input, textarea").first
    names.fill("age, country")
    names.press("Control+Enter" if names.evaluate("entry => entry.tagName") == "TEXTAREA" else "Enter")
    expect(data(guest, "age")).to_be_visible()
    guest.drawn()
    guest.choose_column("country")
    expect(data(guest, "country")).to_be_visible()
    guest.choose_column("age", "false")
    types = guest.main.get_by_test_id("stMetric").filter(has_text="Types so far")
    expect(types).to_contain_text("5")
    editor = guest.unfold("Edit the categories")
    count_as(guest.page, editor, 0, "islands")  # Fiji
    count_as(guest.page, editor, 1, "islands")  # France, while the page still answers the first
    guest.drawn()

    def only_one():
        if "3" not in types.text_content():
            return True
        guest.button("undo").click()  # keys went to another row as well
        return guest.drawn()

    until(guest.page, only_one)
    expect(types).to_contain_text("4")
    guest.button("undo").click()
    expect(types).to_contain_text("5")


def data(visitor, column):
    """The line of the sidebar about the data, if this column is among them."""
    return visitor.sidebar.get_by_role("link", name=re.compile(rf"^Data: .*\b{column}\b"))


def count_as(page, editor, row, name):
    """Type another category into a row of the table of categories. Click until its cell is selected, as the page above
    may still grow. Type until it is there, as keys pressed faster than the grid draws are lost in it."""
    grid = editor.get_by_test_id("stDataFrame")
    cell = grid.get_by_test_id(f"glide-cell-2-{row}")  # what a screen reader finds of the canvas
    expect(cell).to_be_attached()

    def selected():
        if cell.get_attribute("aria-selected") == "true":
            return True
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        return page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 35 * (row + 1.5))

    def there():
        if cell.text_content() == name:
            return True
        until(page, selected, 300)
        page.keyboard.type(name, delay=40)
        page.wait_for_timeout(200)
        return page.keyboard.press("Enter")

    until(page, there, 300)
