"""The designs of a session that have a name: one is on screen, the others wait with their tables and their undo steps.

Whatever changes the design changes the one on screen, so a design that waits is as it was left. Results need no place here: they
are kept by their inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ldp_core import wording
from ldp_core.designs import Configuration
from pages.ui.session.history import KEPT_BYTES, Draft, History, Step, beginning
from pages.ui.sources import Source

MOST_DESIGNS = 12
LONGEST_NAME = 60


@dataclass
class Kept:
    """A design as it waits, with what can be undone and redone in it. ``follows`` is whether its name was made here, and says what is
    chosen also after that has changed; a name that somebody gave it stays."""

    name: str
    configuration: Configuration
    source: Source | None
    draft: Draft | None = None
    past: list[Step] = field(default_factory=list)
    future: list[Step] = field(default_factory=list)
    follows: bool = False


@dataclass
class Shelf(History):
    name: str = ""
    """Of the design on screen; empty while it has none."""
    kept: list[Kept] = field(default_factory=list)
    """The named designs in their order. What stands here of the one on screen is older than it."""
    deleted: tuple[int, Kept] | None = None
    """The design that was deleted last, and its place."""

    def install(self, configuration: Configuration, source: Source | None) -> None:
        super().install(configuration, source)
        self._follow()

    def _step(self, source: list[Step], target: list[Step]) -> None:
        super()._step(source, target)
        self._follow()

    def listed(self) -> list[Kept]:
        """The named designs as they are now."""
        return [self._on_screen() if one.name == self.name else one for one in self.kept]

    def suggested_name(self) -> str:
        """A name for the design on screen that says what is chosen."""
        c = self.configuration
        asked = c.workload.summary if c.workload is not None else "No questions yet"
        return self._free(f"{asked}, epsilon {c.epsilon}")

    def keep(self, name: str | None = None) -> None:
        """Give the design on screen a name, and with it a place in the list; another name where it has one, and by default one that is
        suggested and follows what is chosen. ValueError with a sentence where the name cannot be had, or the list is full; then
        nothing has changed."""
        follows, name = name is None, self._checked(self.suggested_name() if name is None else name)
        if self.name:
            shown = self.kept[self._place()]
            shown.name, shown.follows = name, follows
        else:
            self._check_room()
            self.kept.append(Kept(name, self.configuration, self.source, follows=follows))
        self.name = name

    def duplicate(self) -> None:
        """A copy of the design on screen, with its steps, takes its place there. ValueError where the list is full."""
        self._check_room()
        self._put_away()
        copy = self._on_screen()
        copy.name = self._free(self.name)
        self.kept.insert(self._place() + 1, copy)
        self.name = copy.name

    def switch(self, name: str) -> None:
        """Another design of the list comes on screen. The one that was there waits; if it had no name yet, under a suggested one."""
        if name != self.name:
            self._put_away()
            self._show(next(one for one in self.kept if one.name == name))

    def begin(self) -> None:
        """What comes next is a new design, which starts from the one on screen. That one waits if it has a name; else it can be had
        back by undoing."""
        if self.name:
            self._put_away()
            self.name = ""

    def delete(self, name: str) -> None:
        """Take a design off the list; `bring_back` is possible until the next one is deleted. If it was on screen, its neighbour
        comes there, or an empty design."""
        at = next(i for i, one in enumerate(self.kept) if one.name == name)
        if name == self.name:
            self.kept[at] = self._on_screen()
        self.deleted = (at, self.kept.pop(at))
        if name == self.name:
            empty = Kept("", beginning(), None)
            self._show(self.kept[min(at, len(self.kept) - 1)] if self.kept else empty)

    def bring_back(self) -> None:
        """The design deleted last is on the list again, and on screen where nothing else is. ValueError where the list is full."""
        if self.deleted is None:
            return
        self._check_room()
        at, back = self.deleted
        back.name, self.deleted = self._free(back.name), None
        self.kept.insert(at, back)
        if self.empty:
            self._show(back)

    @property
    def empty(self) -> bool:
        """Whether nothing has been chosen yet, so that nothing is lost without it."""
        return not self.name and self.draft is None and self.configuration == beginning()

    def _follow(self) -> None:
        """The design on screen has changed: a name that was made here says what is chosen now."""
        names = [one.name for one in self.kept]
        if self.name in names and (shown := self.kept[names.index(self.name)]).follows:
            shown.name = ""
            self.name = shown.name = self.suggested_name()

    def _on_screen(self) -> Kept:
        follows = any(one.follows for one in self.kept if one.name == self.name)
        steps = [*self.past], [*self.future]
        return Kept(self.name, self.configuration, self.source, self.draft, *steps, follows=follows)

    def _place(self) -> int:
        """Where the design on screen is in the list."""
        return [one.name for one in self.kept].index(self.name)

    def _put_away(self) -> None:
        if self.empty:
            return
        if not self.name:
            self.keep()
        self.kept[self._place()] = self._on_screen()
        self._let_go()

    def _show(self, chosen: Kept) -> None:
        self.name, self.configuration, self.source, self.draft = (
            chosen.name,
            chosen.configuration,
            chosen.source,
            chosen.draft,
        )
        self.past, self.future = [*chosen.past], [*chosen.future]
        self.notices = []
        self.invalid.clear()
        for seen in ("source", "attribute"):  # what was looked at on the Data page of the other design
            self.view.pop(seen, None)

    def _let_go(self) -> None:
        """Steps of designs that wait are forgotten, the oldest first, where their tables would take more than `KEPT_BYTES`."""
        held = self._tables_of(self.kept)
        for one in self.kept:
            for steps in (one.past, one.future):
                for i in reversed(range(len(steps))):
                    source = steps[i][1]
                    more = 0 if source is None or source.id in held else source.size
                    if source is not None and more and sum(held.values()) + more > KEPT_BYTES:
                        del steps[: i + 1]
                        break
                    if source is not None:
                        held[source.id] = source.size

    @staticmethod
    def _tables_of(designs: list[Kept]) -> dict[str, int]:
        return {one.source.id: one.source.size for one in designs if one.source is not None}

    def _check_room(self) -> None:
        if len(self.kept) >= MOST_DESIGNS:
            raise ValueError(f"The list holds {MOST_DESIGNS} designs, which is the most: delete one of them first.")
        tables = self._tables_of([*self.kept, self._on_screen()])
        if len(tables) > 1 and sum(tables.values()) > KEPT_BYTES:
            raise ValueError(
                f"The tables of these designs take {sum(tables.values()) / 1e6:,.0f} MB together, and at most "
                f"{KEPT_BYTES / 1e6:,.0f} MB are kept: delete a design of another table first."
            )

    def _checked(self, name: str) -> str:
        name = " ".join(name.split())
        if not 0 < len(name) <= LONGEST_NAME:
            raise ValueError(f"A design needs a name of 1 to {LONGEST_NAME} letters.")
        if name != self.name and name in {one.name for one in self.kept}:
            raise ValueError(f"Another design is called {wording.quoted(name, LONGEST_NAME)}: choose another name.")
        return name

    def _free(self, name: str) -> str:
        """The name, shortened, or with the first number that makes it one of its own."""
        taken = {one.name for one in self.kept}
        numbered = (f"{wording.shortened(name, LONGEST_NAME - 5)} ({i})" for i in range(2, MOST_DESIGNS + 2))
        return next(one for one in (wording.shortened(name, LONGEST_NAME), *numbered) if one not in taken)
