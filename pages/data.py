"""Who is asked about what: upload a table, pick a sample, or declare a domain before collecting anything."""

import pandas as pd
import streamlit as st

from ldp_core import charts, wording
from ldp_core.deploy import DeclaredData
from ldp_core.domain import MAX_TYPES
from pages.ui import frame
from pages.ui.controls import control, whole_number
from pages.ui.state import Draft, catalogue
from pages.ui.text import people, plain

SOURCES = {"sample": "Sample", "upload": "Upload", "declared": "Declare"}
MISSING = {"drop": "leave those people out", "category": "a category of their own", "refuse": "refuse the data"}
OUTSIDE = {"other": "count as (other)", "clamp": "move to the nearest bin", "refuse": "refuse the data"}
METHODS = {"equal_width": "equal width", "equal_count": "equal count", "own_edges": "own edges"}
SHAPES = {
    "uniform": "even: every type equally common",
    "zipf": "Zipf: few common, many rare",
    "bell": "bell: most in the middle",
}

state = frame.open_page(
    "Data", "Choose the people and the one value each of them has, or declare both before you collect."
)


def in_use():
    """The choice shown: the draft while it does not work yet, else the design's own."""
    if state.draft is not None:
        return state.draft.choice, state.draft.table, state.draft.table_id
    return state.configuration.data, state.table, state.table_id


def ingest() -> None:
    uploaded = st.session_state[uploader]
    if uploaded is not None:
        try:
            state.adopt_upload(uploaded.getvalue(), uploaded.name)
        except ValueError as error:
            state.notices = [("error", f"{error} What you had set up is unchanged.")]
        state.view["uploads"] = state.view.get("uploads", 0) + 1  # an empty uploader next time: the file is in


def set_header(header: bool) -> None:
    state.adopt_upload(state.upload.content, state.upload.name, header)


def set_treatment(**changes) -> None:
    choice, table, table_id = in_use()
    treatment = choice.treatment.model_copy(update=changes)
    choice = choice.model_copy(update={"treatment": treatment})
    if treatment.method == "own_edges" and not treatment.edges_text.strip():  # just chosen: nothing is wrong yet
        state.draft = Draft(
            choice, table, table_id, "list the edges of the bins, at least two numbers from low to high."
        )
        return
    state.set_data(choice, table, table_id)


def treatment_setter(field: str):
    return lambda value: set_treatment(**{field: value})


def declared_setter(field: str):
    def commit(value) -> None:
        current = in_use()[0]
        base = current if isinstance(current, DeclaredData) else DeclaredData(kind="categorical")
        state.set_data(base.model_copy(update={field: value}), None, "")

    return commit


def column_controls(choice, table: pd.DataFrame) -> None:
    """Which column, and how its values become types."""
    control(
        st.selectbox,
        "Column",
        "data-column",
        choice.column if choice.column in table.columns else table.columns[0],
        lambda column: state.choose_column(column, table, in_use()[2], choice.treatment.header),
        options=list(table.columns),
    )
    t = choice.treatment
    control(
        st.segmented_control,
        "Treat its values as",
        "data-kind",
        t.kind,
        lambda kind: kind and set_treatment(kind=kind),
        options=["categorical", "numeric"],
        format_func={"categorical": "categories", "numeric": "numbers in bins"}.get,
    )
    if t.kind == "categorical":
        control(
            st.number_input,
            "Merge values of fewer than this many people into (other)",
            "data-rare",
            t.rare_below,
            treatment_setter("rare_below"),
            min_value=0,
            step=1,
            help="0 keeps every value.",
        )
    else:
        control(
            st.selectbox,
            "Bins",
            "data-method",
            t.method,
            treatment_setter("method"),
            options=list(METHODS),
            format_func=METHODS.get,
        )
        if t.method == "own_edges":
            control(
                st.text_input,
                "Edges, from low to high",
                "data-edges",
                t.edges_text,
                treatment_setter("edges_text"),
                placeholder="0, 18, 30, 45, 65, 100",
            )
        else:
            control(
                st.number_input,
                "Number of bins (at most)",
                "data-bins",
                t.bins,
                treatment_setter("bins"),
                min_value=2,
                max_value=MAX_TYPES,
                step=1,
            )
        control(
            st.checkbox,
            "Other texts count as missing",
            "data-texts",
            t.non_numbers == "missing",
            lambda on: set_treatment(non_numbers="missing" if on else "refuse"),
            help="What is not a number in this column, such as “over 90”. Otherwise such a column is refused.",
        )
    control(
        st.selectbox,
        "Missing values",
        "data-missing",
        t.missing,
        treatment_setter("missing"),
        options=list(MISSING),
        format_func=MISSING.get,
    )
    ways = [way for way in OUTSIDE if way != "clamp" or t.kind == "numeric"]
    control(
        st.selectbox,
        "Values outside the domain",
        "data-outside",
        t.outside if t.outside in ways else "refuse",
        treatment_setter("outside"),
        options=ways,
        format_func=OUTSIDE.get,
        help="What a person's device does with a value that is not listed or lies beyond the last edge.",
    )


def declared_controls(choice: DeclaredData) -> None:
    control(
        st.segmented_control,
        "The values are",
        "declare-kind",
        choice.kind,
        lambda v: v and declared_setter("kind")(v),
        options=["categorical", "numeric"],
        format_func={"categorical": "categories", "numeric": "a range in bins"}.get,
    )
    control(st.text_input, "Name of the value", "declare-name", choice.name, declared_setter("name"), placeholder="age")
    if choice.kind == "categorical":
        control(
            st.text_area,
            "Categories, one a line (or separated by commas)",
            "declare-categories",
            choice.categories_text,
            declared_setter("categories_text"),
            placeholder="never\nsometimes\noften",
        )
    else:
        low, high = st.columns(2)
        with low:
            control(
                st.text_input,
                "Lowest value",
                "declare-low",
                choice.low_text,
                declared_setter("low_text"),
                placeholder="18",
            )
        with high:
            control(
                st.text_input,
                "Highest value",
                "declare-high",
                choice.high_text,
                declared_setter("high_text"),
                placeholder="90",
            )
        control(
            st.number_input,
            "Number of bins (at most)",
            "declare-bins",
            choice.bins,
            declared_setter("bins"),
            min_value=2,
            max_value=MAX_TYPES,
            step=1,
        )
        control(st.checkbox, "Whole numbers only", "declare-integer", choice.integer, declared_setter("integer"))
    population_controls()


def population_controls() -> None:
    """Expected users and how they spread: what errors "to expect" refer to before there is data."""
    now = state.expected()
    control(
        st.text_input,
        "Expected number of users",
        "declare-users",
        f"{now.users:,}",
        lambda text: state.expect(users=whole_number(text, "the number of users", 1, 10**9)),
    )
    control(
        st.selectbox,
        "Expected shape",
        "declare-shape",
        now.shape,
        lambda shape: state.expect(shape=shape),
        options=list(SHAPES),
        format_func=SHAPES.get,
        help="Only used to predict errors; the mechanism does not depend on it.",
    )


choice, table, table_id = in_use()
left, right = st.columns([1, 2], gap="large")
with left:
    current = choice.source if choice is not None else "sample"
    source = state.view.get("source", current)
    source = (
        control(
            st.segmented_control,
            "Where from",
            "data-source",
            source,
            lambda v: v and state.view.update(source=v),
            options=list(SOURCES),
            format_func=SOURCES.get,
        )
        or source
    )
    if source == "sample":
        for sample in catalogue():
            st.button(
                sample["title"],
                key=f"pick-{sample['file']}",
                on_click=state.load_sample,
                args=(sample["file"],),
                help=sample["sentence"],
                width="stretch",
            )
    elif source == "upload":
        uploader = f"upload-{state.view.get('uploads', 0)}"
        st.file_uploader(
            "CSV, Excel or Parquet, one row a person, at most 200 MB",
            type=None,
            key=uploader,
            on_change=ingest,
            help="The rows stay in this server's memory for this session. Nothing is written to disk or sent anywhere.",
        )
        if state.upload is not None and choice is not None and choice.source == "upload" and table is not None:
            control(
                st.checkbox, "The first row holds the column names", "data-header", choice.treatment.header, set_header
            )
    if source == "declared":
        declared_controls(choice if isinstance(choice, DeclaredData) else DeclaredData(kind="categorical"))
    elif choice is not None and choice.source == source and table is not None:
        column_controls(choice, table)

with right:
    if state.draft is not None:
        kept = " The design keeps its earlier data until then." if state.configuration.domain is not None else ""
        st.error(plain(state.draft.error[:1].upper() + state.draft.error[1:] + kept))
    design = state.design()
    if design is None:
        st.info("Nothing is chosen yet. Pick a sample on the left to see everything work, or bring your own table.")
    else:
        attribute = design.domain.attributes[0]
        users, types, rest = st.columns(3)
        users.metric("Users (N)", wording.count(design.users), help="People who will each send reports.")
        types.metric("Types (n)", f"{design.domain.size:,}", help="Different values a person can have, after binning.")
        tally = state.tally
        if tally is not None:
            rest.metric("Left out", f"{tally.dropped:,}", help="People with a missing value, where those are left out.")
        shares = design.counts / design.users
        top = int(shares.argmax())
        unused = int((design.counts == 0).sum())
        empty = (
            f"{unused:,} of {design.domain.size:,} types {'is' if unused == 1 else 'are'} empty"
            if unused
            else "no type is empty"
        )
        words = (
            f"The most common type is **{plain(design.labels[top])}** with {wording.share(shares[top])} of "
            f"{people(design.users)}; {empty}."
        )
        if not design.on_data:
            words = "No data is loaded: this is the population you expect. " + words
        if tally is not None and tally.outside:
            words += f" {people(tally.outside)} had a value outside the domain and went where you said."
        data = pd.DataFrame({"type": design.labels, "users": design.counts})
        frame.chart(
            lambda look: charts.histogram(design.labels, design.counts, attribute.name, look), words, "histogram", data
        )
        if attribute.origin == "data":
            st.caption(
                "The list of types was read off the data. An exported design shows it; declare the domain yourself if that "
                "would reveal too much."
            )
    if table is not None:
        st.subheader("First rows")
        known = choice.column in table.columns
        summary = state.summary_of(choice.column, table, table_id) if known else None
        st.dataframe(table.head(8), hide_index=True)
        facts = f"{len(table):,} rows, {table.shape[1]:,} columns."
        if summary is not None:
            facts += (
                f" Column {plain(summary.name)}: {summary.distinct:,} distinct values, {summary.missing:,} missing."
            )
        st.caption(facts)
    if design is not None:
        frame.how_computed(
            "Each person has exactly one of the *n* types. The histogram is the data vector *x* of the papers: "
            "*x*ᵤ users are of type *u* (McKenna et al. 2020, Section 2.1). Bins include their lower edge; the last also "
            "includes its upper edge. Cells that are empty or read NA, N/A, NaN, null, none or ? are missing values."
        )
