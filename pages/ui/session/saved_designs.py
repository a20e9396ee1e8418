"""The designs of a session that have a name: one is on screen, the others wait with their tables and their steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ldp_core import wording
from ldp_core.limits import MOST_DESIGN_NAME, MOST_DESIGNS, MOST_HISTORY_BYTES
from pages.ui.session.history import History, beginning


@dataclass
class SavedDesign:
    """A named design. A name that was ``suggested`` follows what is chosen; one that somebody gave stays."""

    name: str
    history: History
    suggested: bool = False


@dataclass
class SavedDesigns:
    """The named designs in their order, and the ``shown`` one, which may have no name yet."""

    shown: History = field(default_factory=History)
    designs: list[SavedDesign] = field(default_factory=list)
    deleted: tuple[int, SavedDesign] | None = None
    """The design that was deleted last, and its place."""

    @property
    def name(self) -> str:
        """The name of the design on screen; empty while it has none."""
        place = self._place()
        return "" if place is None else self.designs[place].name

    @property
    def empty(self) -> bool:
        """True if nothing has been chosen yet, so that nothing is lost without the design on screen."""
        return not self.name and self.shown.draft is None and self.shown.configuration == beginning()

    def suggested_name(self) -> str:
        """A name for the design on screen that says what is chosen."""
        c = self.shown.configuration
        questions = c.workload.summary if c.workload is not None else "No questions yet"
        return self._free(f"{questions}, epsilon {c.epsilon}")

    def keep(self, name: str | None = None) -> None:
        """Give the design on screen a name, by default a suggested one, and with it a place in the list.

        ValueError with a sentence where the name is not available, or the list is full; then nothing has changed.
        """
        suggested, name = name is None, self._checked(self.suggested_name() if name is None else name)
        place = self._place()
        if place is None:
            self._check_room()
            self.designs.append(SavedDesign(name, self.shown, suggested))
        else:
            self.designs[place] = SavedDesign(name, self.shown, suggested)

    def duplicate(self) -> None:
        """A copy of the design on screen takes its place there. ValueError where the list is full."""
        self._check_room()
        self._put_away()
        place = self._place()
        if place is None:
            return
        original = self.designs[place]
        self.shown = original.history.copy()
        self.designs.insert(place + 1, SavedDesign(self._free(original.name), self.shown, original.suggested))

    def switch(self, name: str) -> None:
        """Show another design of the list. The one on screen waits; if it had no name yet, under a suggested one."""
        if name != self.name:
            self._put_away()
            self.shown = next(design.history for design in self.designs if design.name == name)

    def begin(self) -> None:
        """Start a new design from the one on screen. That one waits if it has a name; else undo brings it back."""
        if self.name:
            self._put_away()
            self.shown = self.shown.copy()

    def delete(self, name: str) -> None:
        """Take a design off the list; `bring_back` is possible until the next one is deleted.

        If it was on screen, its neighbour comes there, or an empty design.
        """
        place = next(i for i, design in enumerate(self.designs) if design.name == name)
        gone = self.designs.pop(place)
        self.deleted = (place, gone)
        if gone.history is self.shown:
            neighbour = self.designs[min(place, len(self.designs) - 1)].history if self.designs else History()
            self.shown = neighbour

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
            self.shown = back.history

    def follow(self) -> None:
        """The design on screen has changed: a suggested name says what is chosen now."""
        place = self._place()
        if place is not None and self.designs[place].suggested:
            self.designs[place].name = ""
            self.designs[place].name = self.suggested_name()

    def clear(self) -> None:
        """Drop everything."""
        self.shown, self.designs, self.deleted = History(), [], None

    def _place(self) -> int | None:
        """The position of the design on screen in the list."""
        return next((i for i, design in enumerate(self.designs) if design.history is self.shown), None)

    def _put_away(self) -> None:
        if not self.empty:
            if not self.name:
                self.keep()
            self._drop_steps()

    def _drop_steps(self) -> None:
        """Drop steps of designs that wait, the oldest first, where their tables would take more than `MOST_HISTORY_BYTES`."""
        held = _tables_of(design.history for design in self.designs)
        for design in self.designs:
            for steps in (design.history.past, design.history.future):
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
        tables = _tables_of([*(design.history for design in self.designs), self.shown])
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
        tries = (wording.shortened(name, MOST_DESIGN_NAME), *map(numbered, range(2, MOST_DESIGNS + 2)))
        return next(design for design in tries if design not in taken)


def _tables_of(designs: Iterable[History]) -> dict[str, int]:
    return {design.source.id: design.source.size for design in designs if design.source is not None}
