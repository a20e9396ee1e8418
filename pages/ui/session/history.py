"""One design as it was chosen, and the steps that led to it: every change can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ldp_core import wording
from ldp_core.designs import Configuration, DataChoice
from ldp_core.limits import MOST_DESIGN_NAME, MOST_DESIGNS, MOST_HISTORY_BYTES, MOST_UNDO_STEPS
from pages.ui.sources import Source

Step = tuple[Configuration, Source | None]


@dataclass(frozen=True)
class Draft:
    """A data choice that cannot be used yet, with the table it refers to and the sentence that says why."""

    choice: DataChoice
    source: Source | None
    error: str
    begun: bool = False
    """Nothing is wrong: the entry is only incomplete."""


@dataclass(eq=False)
class History:
    """A design and its steps.

    Attributes:
        source: the table in use; None for a declared domain, and while data is missing.
        future: what was undone, next step last.
        name: that in the list of saved designs, empty where it is not there.
    """

    configuration: Configuration = field(default_factory=Configuration)
    source: Source | None = None
    draft: Draft | None = None
    past: list[Step] = field(default_factory=list)
    future: list[Step] = field(default_factory=list)
    name: str = ""

    @property
    def now(self) -> Step:
        return self.configuration, self.source

    def copy(self, **other: Any) -> History:
        """The same design, with steps of its own and ``other`` fields."""
        return replace(self, past=[*self.past], future=[*self.future], **other)

    def install(self, configuration: Configuration, source: Source | None) -> bool:
        """Make this the design (undoable); whether it is another one than before."""
        if configuration == self.configuration and source is self.source:
            return False
        self._step_from(self.now)
        self.future = []
        self.configuration, self.source = configuration, source
        return True

    @contextmanager
    def one_step(self) -> Iterator[None]:
        """All changes made inside are undone together."""
        before, past = self.now, [*self.past]
        yield
        if self.configuration != before[0] or self.source is not before[1]:
            self.past = past
            self._step_from(before)

    def undo(self) -> bool:
        """Back to the design before the last change, with the data it had; False where there is none."""
        return self._step(self.past, self.future)

    def redo(self) -> bool:
        """Forward again to the design that was undone last; False where there is none."""
        return self._step(self.future, self.past)

    def _step(self, origin: list[Step], target: list[Step]) -> bool:
        if not origin:
            return False
        target.append(self.now)
        self.configuration, self.source = origin.pop()
        self.draft = None
        return True

    def _step_from(self, step: Step) -> None:
        self.past = _affordable([*self.past[-MOST_UNDO_STEPS:], step])


def _affordable(steps: list[Step]) -> list[Step]:
    """The latest steps whose tables together stay within `MOST_HISTORY_BYTES`; the last one always."""
    kept: list[Step] = []
    sizes: dict[str, int] = {}
    for configuration, source in reversed(steps):
        if source is not None:
            sizes[source.id] = source.size
        if kept and sum(sizes.values()) > MOST_HISTORY_BYTES:
            break
        kept.append((configuration, source))
    return kept[::-1]


@dataclass
class SavedDesigns:
    """The named designs in their order, and the ``shown`` one, which may have no name yet."""

    shown: History = field(default_factory=History)
    designs: list[History] = field(default_factory=list)
    deleted: tuple[int, History] | None = None
    """The design that was deleted last, and its place."""

    @property
    def name(self) -> str:
        """The name of the design on screen; empty while it has none."""
        return self.shown.name

    @property
    def empty(self) -> bool:
        """True if nothing has been chosen yet, so that nothing is lost without the design on screen."""
        return not self.name and self.shown.draft is None and self.shown.configuration == Configuration()

    def suggested_name(self) -> str:
        """A name for the design on screen that says what is chosen."""
        c = self.shown.configuration
        questions = c.workload.summary if c.workload is not None else "No questions yet"
        return self._free(f"{questions}, epsilon {c.epsilon}")

    def keep(self, name: str | None = None) -> None:
        """Give the design on screen a name, by default a suggested one, and with it a place in the list.

        ValueError with a sentence where the name is not available, or the list is full; then nothing has changed.
        """
        name = self._checked(self.suggested_name() if name is None else name)
        if not self.name:
            self._check_room()
            self.designs.append(self.shown)
        self.shown.name = name

    def duplicate(self) -> None:
        """A copy of the design on screen takes its place there. ValueError where the list is full."""
        self._check_room()
        self._put_away()
        if self.name:
            place = self.designs.index(self.shown)
            self.shown = self.shown.copy(name=self._free(self.name))
            self.designs.insert(place + 1, self.shown)

    def switch(self, name: str) -> None:
        """Show another design of the list. The one on screen waits; if it had no name yet, under a suggested one."""
        if name != self.name:
            self._put_away()
            self.shown = next(design for design in self.designs if design.name == name)

    def begin(self) -> None:
        """Start a new design from the one on screen. That one waits if it has a name; else undo brings it back."""
        if self.name:
            self._put_away()
            self.shown = self.shown.copy(name="")

    def delete(self, name: str) -> None:
        """Take a design off the list; `bring_back` is possible until the next one is deleted.

        If it was on screen, its neighbour comes there, or an empty design.
        """
        place = next(i for i, design in enumerate(self.designs) if design.name == name)
        gone = self.designs.pop(place)
        self.deleted = (place, gone)
        if gone is self.shown:
            self.shown = self.designs[min(place, len(self.designs) - 1)] if self.designs else History()

    def bring_back(self) -> None:
        """The design deleted last is on the list again, and on screen where nothing else is. ValueError where the list is full."""
        if self.deleted is None:
            return
        self._check_room()
        place, back = self.deleted
        back.name, self.deleted = self._free(back.name), None
        empty = self.empty
        self.designs.insert(place, back)
        if empty:
            self.shown = back

    def _put_away(self) -> None:
        if not self.empty:
            if not self.name:
                self.keep()
            self._drop_steps()

    def _drop_steps(self) -> None:
        """Drop steps of designs that wait, the oldest first, where their tables would take more than `MOST_HISTORY_BYTES`."""
        held = _tables_of(self.designs)
        for design in self.designs:
            for steps in (design.past, design.future):
                for i in reversed(range(len(steps))):
                    source = steps[i][1]
                    if source is None:
                        continue
                    more = 0 if source.id in held else source.size
                    if more and sum(held.values()) + more > MOST_HISTORY_BYTES:
                        del steps[: i + 1]
                        break
                    held[source.id] = source.size

    def _check_room(self) -> None:
        if len(self.designs) >= MOST_DESIGNS:
            raise ValueError(f"The list holds {MOST_DESIGNS} designs, which is the most: delete one of them first.")
        tables = _tables_of([*self.designs, self.shown])
        if len(tables) > 1 and sum(tables.values()) > MOST_HISTORY_BYTES:
            raise ValueError(
                f"The tables of these designs take {sum(tables.values()) / 1e6:,.0f} MB together, and at most "
                f"{MOST_HISTORY_BYTES / 1e6:,.0f} MB are kept: delete a design of another table first."
            )

    def _checked(self, name: str) -> str:
        name = " ".join(name.split())
        if not 0 < len(name) <= MOST_DESIGN_NAME:
            raise ValueError(f"A design needs a name of 1 to {MOST_DESIGN_NAME} letters.")
        if name != self.name and name in {design.name for design in self.designs}:
            raise ValueError(f"Another design is called {wording.quoted(name, MOST_DESIGN_NAME)}: choose another name.")
        return name

    def _free(self, name: str) -> str:
        """The name, shortened, or with the first number that no other design has."""
        taken = {design.name for design in self.designs}
        numbered: Callable[[int], str] = lambda i: f"{wording.shortened(name, MOST_DESIGN_NAME - 5)} ({i})"  # noqa: E731
        tries = chain([wording.shortened(name, MOST_DESIGN_NAME)], map(numbered, range(2, MOST_DESIGNS + 2)))
        return next(design for design in tries if design not in taken)


def _tables_of(designs: Iterable[History]) -> dict[str, int]:
    return {design.source.id: design.source.size for design in designs if design.source is not None}
