"""Widgets that show the typed state and change it, one way round: state -> widget -> callback -> state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from ldp_core import verdicts, wording
from ldp_core.analysis import WORST_CASE
from pages.ui.session.state import Session, session
from pages.ui.streamlit_fixes import run_context, stale_widgets
from pages.ui.words import case_meaning, case_title, plain


def control(
    widget: Callable[..., Any], label: str, key: str, value: Any, commit: Callable[[Any], None], **options: Any
) -> Any:
    """Draw ``widget`` showing ``value``; when a person changes it, ``commit(new)`` is called.

    A ValueError from ``commit`` leaves the design as it was: the entry stays as typed, with the sentence below it.
    Not for fragments: what is chosen there would pass for a repetition, see `run_context.polled`.
    """
    state = session()
    invalid = state.invalid.get(key)
    # The typed state is the only truth: without a refused entry, the widget always shows it (after undo or load as well).
    st.session_state[key] = shown = invalid[0] if invalid else value
    stale_widgets.note(key, shown)

    def changed() -> None:
        if key not in st.session_state:  # everything has been forgotten since it was drawn
            return
        entry = st.session_state[key]
        if (
            entry == shown
        ):  # a control that has just left the page is reported once more if somebody chooses on meanwhile
            return
        if run_context.polled() or stale_widgets.is_outdated(key, entry):
            st.session_state[key] = shown
            return
        if not _offered(
            entry, options.get("options")
        ):  # chosen before the page was drawn again, with what is offered now
            return
        state.notices = []
        try:
            state.invalid.pop(key, None)
            commit(entry)
        except ValueError as error:
            state.invalid[key] = (entry, str(error))

    entered = widget(label, key=key, on_change=changed, **options)
    if invalid:
        st.error(plain(invalid[1]))
    return entered


def _offered(entry: Any, options: Any) -> bool:
    """True if what is chosen is among ``options``, or there are none to choose from. Streamlit knows a control by its key alone,
    also when it offers something else by now."""
    chosen = entry if isinstance(entry, list) else [entry]
    return options is None or all(one is None or one in options for one in chosen)


def pick(label: str, key: str, value: Any, commit: Callable[[Any], None], shown: dict[Any, str], **options: Any) -> Any:
    """A selectbox of the keys of ``shown``, each under its text. None may be one of them; because a selectbox takes None for no
    choice at all, it is "" there."""
    return control(
        st.selectbox,
        label,
        key,
        "" if value is None else value,
        lambda chosen: commit(None if chosen == "" else chosen),
        options=["" if known is None else known for known in shown],
        format_func=lambda known: shown[None if known == "" else known],
        **options,
    )


def case_control(
    state: Session,
    key: str,
    case: str,
    commit: Callable[[Any], None],
    names: Iterable[str],
    title: str = "{title}",
    **options: Any,
) -> str:
    """Whose error counts, or in a sentence why there is no choice; what is chosen. ``title`` is how each case is written."""
    if reason := state.setting.only_case:
        st.caption(reason)
        return WORST_CASE.name
    known = [name for name in names if name in state.present.cases]
    case = case if case in known else WORST_CASE.name
    shown = {name: title.format(title=case_title(name).capitalize(), meaning=case_meaning(name)) for name in known}
    return str(pick("Whose error counts", key, case, commit, shown, **options))


def guarded(state: Session, action: Callable[..., Any], *arguments: Any) -> None:
    """What a button or an uploader does; a sentence about what went wrong is shown above the page."""
    try:
        action(*arguments)
    except ValueError as error:
        state.notices = [("error", f"{error} What you had set up is unchanged.")]


def change(state: Session, field: str) -> Callable[[Any], None]:
    """A commit function that replaces one field of the configuration."""
    return lambda value: state.change(**{field: value})


def whole_number(text: str, what: str, low: int, high: int) -> int:
    """A whole number typed by a person ("3,000" is fine). ValueError with a sentence otherwise."""
    cleaned = text.strip().replace(",", "").replace(" ", "").replace("_", "")
    if not (cleaned.isascii() and cleaned.isdigit() and len(cleaned) < 20 and low <= int(cleaned) <= high):
        raise ValueError(
            f"Please give {what} as a whole number from {low:,} to {high:,}; {text.strip()[:30]!r} is not one."
        )
    return int(cleaned)


def several(
    label: str, key: str, now: Iterable[str], commit: Callable[[tuple[str, ...]], None], titles: dict[str, str]
) -> None:
    """Some of the keys of ``titles``, each under its title."""
    control(
        st.multiselect,
        label,
        key,
        [name for name in now if name in titles],
        lambda chosen: commit(tuple(chosen)),
        options=list(titles),
        format_func=titles.get,
        wrap=True,
    )


def target_control(state: Session) -> None:
    """The difference that must be seen, typed in or taken from questions and data; the error aimed at follows from it."""
    c, found, design = state.configuration, state.setting.suggested, state.setting
    control(
        st.text_input,
        "What difference must you be able to see? (percentage points of all users)",
        "difference",
        wording.significant(100 * state.setting.difference, 6),
        lambda text: state.change(difference=None, target_alpha=verdicts.alpha_for(_difference(text))),
        help="Between two answers, or between an answer and nobody. Every answer is called usable, rough or noise by it, and users "
        "needed are for it.",
    )
    whence = ""
    if found.typical is None or found.smallest is None or found.smallest_difference is None:
        whence = f"Nothing can be taken from {design.population}: every answer is nobody or everybody. "
    else:
        shown = {
            "typical": f"Half a typical answer{_offer(found.typical / 2, found.difference)}",
            "smallest": f"The smallest share that matters{_offer(found.smallest, found.smallest_difference)}",
        }
        control(
            st.pills,
            f"Taken from your questions and {design.population} (percentage points)",
            "difference-from",
            c.difference,
            lambda chosen: state.change(difference=chosen, target_alpha=0.01 if chosen else state.setting.alpha),
            options=list(shown),
            format_func=shown.get,
        )
        typical = (
            f"a typical answer (the root mean square, as for errors) is {wording.share(found.typical)} of all users, or lacks that "
            "much to everybody; half of it"
        )
        smallest = (
            f"answers of fewer than {wording.share(found.smallest)} of all users (or that lack less to everybody) are together at most "
            f"{wording.share(verdicts.NEGLIGIBLE)} of the sum of all answers; this share"
        )
        if c.difference is not None:
            exact = found.typical / 2 if c.difference == "typical" else found.smallest
            taken = (
                f"is less than can be asked for, so {verdicts.in_words(verdicts.LEAST_DIFFERENCE)} are taken"
                if exact < verdicts.LEAST_DIFFERENCE
                else "is taken, rounded to one digit"
            )
            whence = f"Not set by you: on {design.population}, {typical if c.difference == 'typical' else smallest} {taken}. "
    st.caption(
        f"{whence}The standard error aimed at is half of the difference, {wording.error(state.setting.alpha**0.5)}: alpha = "
        f"{wording.significant(state.setting.alpha, 4)} (the papers' default is 0.01)."
    )


def _offer(exact: float, difference: float) -> str:
    """What follows the name of a difference that can be taken: itself, in percentage points."""
    return f"{', but at least' if exact < verdicts.LEAST_DIFFERENCE else ''}: {wording.significant(100 * difference)}"


def _difference(text: str) -> float:
    """A difference typed in percentage points, as a share. ValueError with a sentence."""
    points = number(text.strip().removesuffix("%"), "the difference in percentage points")
    low, high = 100 * verdicts.LEAST_DIFFERENCE, 100 * verdicts.LARGEST_DIFFERENCE
    if not low <= points <= high:
        raise ValueError(f"The difference must be from {low:g} to {high:g} percentage points; 1 to 10 is common.")
    return points / 100


def number(text: str, what: str) -> float:
    """A finite number typed by a person. ValueError naming ``what`` otherwise."""
    try:
        value = float(text.strip())
    except ValueError:
        shown = f"{text.strip()[:30]!r} is not a number" if text.strip() else "it is empty"
        raise ValueError(f"Please give {what} as a number such as 18 or 2.5; {shown}.") from None
    if not math.isfinite(value):
        raise ValueError(f"Please give {what} as a finite number; {text.strip()} is not one.")
    return value


def typed(value: float | None) -> str:
    """A number as a person would type it; nothing for None."""
    return "" if value is None else f"{value:.15g}"
