"""Widgets that show the typed state and change it, one way round: state -> widget -> callback -> state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st
from pydantic import ValidationError

from ldp_core import verdicts, wording
from ldp_core.designs.configuration import DifferenceToDetect
from ldp_core.limits import MOST_USERS
from ldp_core.workloads import Detect
from ldp_core.workloads.answers import default_targets
from pages.ui import say
from pages.ui.session.state import Session, session

_ENTERED, _FOLLOWED, _RENEWED = "entered", "entry-followed", "renewed"
"""The control that was changed last, the one whose change this run follows, and the keys of controls that have come anew."""
UNCHANGED = " What you had set up is unchanged."


def begin_page() -> None:
    """A page begins to be drawn, after a change of one control, or of none."""
    st.session_state[_FOLLOWED] = st.session_state.pop(_ENTERED, "")


def control(
    widget: Callable[..., Any], label: str, key: str, value: Any, commit: Callable[[Any], None], **options: Any
) -> Any:
    """Draw ``widget`` showing ``value``; when a person changes it, ``commit(new)`` is called.

    A ValueError from ``commit`` leaves the design as it was: the entry stays as typed, with the sentence below it.
    """
    state = session()
    invalid = state.invalid.get(key)
    # The typed state is the only truth: without a refused entry, the widget always shows it (after undo or load as well).
    shown = invalid[0] if invalid else value
    name = _name(key, shown)
    st.session_state[name] = shown

    def changed() -> None:
        if name not in st.session_state:  # everything has been forgotten since it was drawn
            return
        entry = st.session_state[name]
        if (
            entry == shown
        ):  # a control that has just left the page is reported once more if somebody chooses on meanwhile
            return
        if not options.get("accept_new_options") and not _offered(entry, options.get("options")):
            return  # chosen before the page was drawn again, with what is offered now
        state.notices = []
        st.session_state[_ENTERED] = key
        try:
            state.invalid.pop(key, None)
            commit(entry)
        except ValueError as error:
            state.invalid[key] = (entry, str(error))

    if "options" in options:
        written, safe = (
            options.get("format_func", str),
            say.plain if widget.__name__ in ("radio", "pills", "segmented_control") else str,
        )
        options["format_func"] = lambda one: safe(written(one) or one)  # also for what is offered no longer
    options.update(key=name, on_change=changed, help=say.plain(options.get("help") or ""))
    entered = widget(label, **options)
    if invalid:
        st.error(say.plain(invalid[1]))
    return entered


def _name(key: str, shown: Any) -> str:
    """The key that Streamlit knows a control by. A value that was changed from elsewhere (by another control, undo, a file) comes in a
    new control: what a browser still says of the old one, before the page has followed, is then not heard."""
    renewed = st.session_state.setdefault(_RENEWED, {})
    name = renewed.get(key, key)
    if st.session_state.get(_FOLLOWED) != key and st.session_state.get(name, shown) != shown:
        renewed[key] = name = f"{key}~{1 + int(name.removeprefix(key).removeprefix('~') or 0)}"
    return name


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


def view_switch(key: str, titles: dict[str, str], label: str = "View", help: str | None = None) -> str:
    """One of the keys of ``titles``, by default the first: a part of the page."""
    chosen: str = st.segmented_control(
        label,
        list(titles),
        default=next(iter(titles)),
        required=True,
        key=key,
        format_func=lambda one: say.plain(titles[one]),
        help=say.plain(help or ""),
        label_visibility="collapsed" if label == "View" else "visible",
        persist_state="session",
    )
    return chosen


def guarded(state: Session, action: Callable[..., Any], *arguments: Any) -> None:
    """The action of a button or an uploader: what was said of the one before goes, and a sentence about an error is shown above the page."""
    state.notices = []
    try:
        action(*arguments)
    except ValueError as error:
        state.notices = [("error", f"{error}{UNCHANGED}")]


def button(label: str, key: str, icon: str, action: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """A button, with an ``icon`` or "", that does ``action(*arguments)``, `guarded`; ``options`` are those of `st.button`."""
    help, given = options.pop("help", None), (session(), action, *arguments)
    st.button(
        say.plain(label),
        key,
        say.plain(help) if help else None,
        icon=f":material/{icon}:" if icon else None,
        on_click=guarded,
        args=given,
        **options,
    )


def plan_with(state: Session, needed: float, key: str, **options: Any) -> None:
    """A button that plans with the people ``needed``; none where people are rows of a table, or would be too many."""
    if state.setting.on_data or not needed <= MOST_USERS:
        return
    enough = int(wording.needed(needed).replace(",", ""))
    planned = state.configuration.population.model_copy(update={"users": enough, "origin": "declared"})
    label = f"Plan with {wording.plural(enough, 'person', 'people')}"
    button(label, key, "group_add", lambda: state.change(population=planned), **options)


def take_file(
    state: Session, key: str, label: str, take: Callable[[Any], object], after: str = "", **options: Any
) -> None:
    """An uploader that hands on what it is given to ``take`` and is empty again, so that the same file can be chosen again. A sentence
    about an error, and what comes ``after`` it, stands below."""
    files, wrong = f"{key}-files", f"{key}-file"
    count = st.session_state.setdefault(files, 0)

    def taken() -> None:
        file = st.session_state.get(f"{key}-{count}")
        if not file:  # one, or a list of several
            return
        st.session_state[files] = count + 1
        try:
            take(file)
        except ValueError as error:
            state.invalid[wrong] = (None, f"{error}{after}")
        else:
            for refused in (wrong, key):
                state.invalid.pop(refused, None)

    st.file_uploader(label, key=f"{key}-{count}", on_change=taken, help=say.plain(options.pop("help", "")), **options)
    if wrong in state.invalid:
        st.error(say.plain(state.invalid[wrong][1]))


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
    """The target of the answers in their first unit, and a button that recomputes all targets."""
    _target(state, state.setting.answers.lines[0].key)
    if state.setting.settled.targets != (auto := _auto(state)):
        button(
            "Auto",
            "target-auto",
            "auto_awesome",
            lambda: state.change(targets=auto),
            help="Recomputes the targets: for shares a quarter of a typical answer (the root mean square of all), for averages a tenth of the spread of the values.",
        )


def other_targets(state: Session) -> None:
    """The targets of units after the first, and the chances of a difference to detect."""
    keys = list(dict.fromkeys(line.key for line in state.setting.answers.lines))
    for key in keys[1:]:
        _target(state, key)
    for key in keys:
        if isinstance((state.setting.settled.targets or {})[key], DifferenceToDetect):
            _chance(state, key, "power", "Power (%)", "50 to 99.99; 80 is common")
            _chance(state, key, "level", "Level (%)", "0.01 to 50; 5 is common")
            break


def _auto(state: Session) -> dict[str, float | DifferenceToDetect]:
    """The targets by themselves."""
    lines = state.setting.answers.lines
    found = default_targets(lines, state.setting.counts)
    return {
        key: DifferenceToDetect(**vars(target)) if isinstance(target, Detect) else target
        for key, target in found.items()
    }


def _target(state: Session, key: str) -> None:
    """The target of the answers with a unit: a standard error, or a difference to detect."""
    targets = state.setting.settled.targets or {}
    now = targets[key]
    detect = isinstance(now, DifferenceToDetect)
    unit = verdicts.unit_in_words(key).removeprefix("in ")
    short = {"percentage points": "points"}.get(unit, unit)
    if any(line.key == key and line.unit.total for line in state.setting.answers.lines):
        short = f"{short} a person"
    help = (
        f"A difference, in {unit}, that is to be found with the power chosen under More options."
        if detect
        else f"A standard error, in {unit}. {verdicts.RULE}"
    )

    def commit(text: str) -> None:
        typed_number = text.strip().removeprefix("±").strip().removesuffix("pp").strip()
        value = number(typed_number, "the target", 100 if short == "points" else 1e12)
        changed = now.model_copy(update={"difference": value}) if isinstance(now, DifferenceToDetect) else value
        state.change(targets={**targets, key: changed})

    value = now.difference if isinstance(now, DifferenceToDetect) else now
    control(
        st.text_input,
        say.text("Difference to detect ({unit})" if detect else "Target error (± {unit})", unit=short),
        f"target-{key}",
        wording.significant(value, 6),
        commit,
        help=help,
    )


def _chance(state: Session, key: str, name: str, label: str, taken: str) -> None:
    """The power or the level of the differences to detect, typed in per cent."""
    targets = state.setting.settled.targets or {}
    now = targets[key]
    assert isinstance(now, DifferenceToDetect)

    def commit(text: str) -> None:
        share = number(text.strip().removesuffix("%"), f"the {name}") / 100
        try:
            changed = {
                unit: DifferenceToDetect(**{**dict(target), name: share})
                if isinstance(target, DifferenceToDetect)
                else target
                for unit, target in targets.items()
            }
        except ValidationError:
            raise ValueError(f"Please give the {name} from {taken}.") from None
        state.change(targets=changed)

    control(st.text_input, label, f"detect-{name}", f"{100 * getattr(now, name):.6g}", commit)


def number(text: str, what: str, most: float | None = None) -> float:
    """A finite number typed by a person, above 0 and up to ``most`` where that is given. ValueError naming ``what`` otherwise."""
    try:
        value = float(text.strip())
    except ValueError:
        shown = f"{text.strip()[:30]!r} is not a number" if text.strip() else "it is empty"
        raise ValueError(f"Please give {what} as a number such as 18 or 2.5; {shown}.") from None
    if not math.isfinite(value):
        raise ValueError(f"Please give {what} as a finite number; {text.strip()} is not one.")
    if most is not None and not 0 < value <= most:
        raise ValueError(f"Please give {what} as a number above 0 and at most {most:,.0f}; {value:g} is not one.")
    return value


def typed(value: float | None) -> str:
    """A number as a person would type it; nothing for None."""
    return "" if value is None else f"{value:.15g}"
