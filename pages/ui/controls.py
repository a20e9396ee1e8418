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
        if not options.get("accept_new_options") and not _offered(entry, options.get("options")):
            return  # chosen before the page was drawn again, with what is offered now
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
    return options is None or all(choice_made is None or choice_made in options for choice_made in chosen)


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


def view_switch(state: Session, key: str, titles: dict[str, str]) -> str:
    """The view on screen: one of the keys of ``titles``, by default the first."""
    now = state.view.get(key)
    now = now if now in titles else next(iter(titles))
    shown = control(
        st.segmented_control,
        "View",
        key,
        now,
        lambda chosen: state.view.update({key: chosen or now}),
        options=list(titles),
        format_func=titles.get,
        label_visibility="collapsed",
    )
    return shown or now


def case_control(
    state: Session,
    key: str,
    case: str,
    commit: Callable[[Any], None],
    names: Iterable[str],
    title: str = "{title}",
    **options: Any,
) -> str:
    """The control for the case to optimise for, or a sentence on why there is no choice. Returns the case. ``title`` is how each case is written."""
    if reason := state.setting.only_case:
        st.caption(reason)
        return WORST_CASE.name
    known = [name for name in names if name in state.present.cases]
    case = case if case in known else WORST_CASE.name
    shown = {name: title.format(title=case_title(name).capitalize(), meaning=case_meaning(name)) for name in known}
    return str(pick("Optimise for", key, case, commit, shown, **options))


def guarded(state: Session, action: Callable[..., Any], *arguments: Any) -> None:
    """The action of a button or an uploader; a sentence about an error is shown above the page."""
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
    """The target error of a typical answer. While it is not automatic, a button that makes it so stands beside it."""
    control(
        st.text_input,
        "Target error (± pp)",
        "target",
        wording.significant(100 * state.setting.difference / verdicts.MULTIPLE, 6),
        lambda text: state.change(difference=None, target_alpha=verdicts.alpha_for(verdicts.MULTIPLE * _target(text))),
        help="The standard error you can live with in a typical answer (root mean square over all queries), in percentage points of "
        "all users. Users needed are for it. An answer is usable if its own error is no larger. Default: a quarter of a typical "
        "answer.",
    )
    if state.configuration.difference is None:
        st.button(
            "Auto",
            key="target-auto",
            on_click=lambda: state.change(difference="typical", target_alpha=0.01),
            icon=":material/auto_awesome:",
            help="Take the target error from the questions and the people: a quarter of a typical answer.",
        )


def target_moved(state: Session) -> None:
    """One line, with an undo, where other questions have moved a target error that follows from them."""
    setting, seen = state.setting, state.view.get("target_seen")
    now = (setting.workload.digest, setting.alpha)
    if state.configuration.difference is None:
        state.view["target_seen"] = now
        return
    if seen is None or seen[0] != now[0]:
        state.view.update(target_seen=now, target_before=None if seen is None else seen[1])
    before = state.view.get("target_before")
    if before is None or math.isclose(before, now[1]):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="target-moved"):
        st.caption(f"The target error moved from {_points(before)} to {_points(now[1])} with the questions.")
        st.button(
            f"Keep {_points(before)}",
            key="target-keep",
            type="tertiary",
            on_click=lambda: state.change(difference=None, target_alpha=before),
        )


def _points(alpha: float) -> str:
    return f"± {wording.significant(100 * alpha**0.5)} pp"


def target_sources(state: Session) -> None:
    """The sources of the target error, and its square."""
    c, suggested, design = state.configuration, state.setting.suggested, state.setting
    if suggested.typical is None or suggested.smallest is None or suggested.smallest_difference is None:
        st.caption(f"No default: on {design.population} every answer is nobody or everybody.")
    else:
        shown = {
            "typical": f"a quarter of a typical answer{_offer(suggested.typical / 2, suggested.difference)}",
            "smallest": f"half of the smallest share that matters{_offer(suggested.smallest, suggested.smallest_difference)}",
        }
        control(
            st.pills,
            f"Target error taken from the questions and {design.population}",
            "difference-from",
            c.difference,
            lambda chosen: state.change(difference=chosen, target_alpha=0.01 if chosen else state.setting.alpha),
            options=list(shown),
            format_func=shown.get,
            help=f"A typical answer is {wording.share(suggested.typical)} of all users (root mean square, and what an answer lacks to "
            f"everybody where that is less). Answers below {wording.share(suggested.smallest)} are together at most "
            f"{wording.share(verdicts.NEGLIGIBLE)} of the sum of all answers.",
        )
    control(
        st.text_input,
        "alpha, the square of the target error",
        "alpha",
        typed(state.setting.alpha),
        lambda text: state.change(difference=None, target_alpha=_alpha(text)),
        help="The papers' normalised variance: 0.01 in McKenna et al. 2020.",
    )


def _offer(exact: float, difference: float) -> str:
    """The size of an offered target error, in percentage points, after its name."""
    return f"{', but at least' if exact < verdicts.LEAST_DIFFERENCE else ''}: ± {wording.significant(100 * difference / verdicts.MULTIPLE)} pp"


def _target(text: str) -> float:
    """A target error typed in percentage points, as a share. ValueError with a sentence."""
    points = number(
        text.strip().removeprefix("±").strip().removesuffix("pp").strip().removesuffix("%"), "the target error"
    )
    low, high = (
        100 * verdicts.LEAST_DIFFERENCE / verdicts.MULTIPLE,
        100 * verdicts.LARGEST_DIFFERENCE / verdicts.MULTIPLE,
    )
    if not low <= points <= high:
        raise ValueError(f"The target error must be from {low:g} to {high:g} percentage points; 0.5 to 5 is common.")
    return points / 100


def _alpha(text: str) -> float:
    """The mean squared error of a share, typed. ValueError with a sentence."""
    alpha = number(text, "alpha")
    low, high = (
        verdicts.alpha_for(difference) for difference in (verdicts.LEAST_DIFFERENCE, verdicts.LARGEST_DIFFERENCE)
    )
    if not low <= alpha <= high:
        raise ValueError(f"Alpha must be from {low:g} to {high:g}; 0.01 is common.")
    return alpha


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
