"""The figures and tables of the source papers, recomputed beside what was printed."""

from pages.ui import layout
from pages.ui.papers import gallery

state = layout.open_page(
    "Papers",
    "The papers' figures and tables, recomputed beside the printed numbers. Most settings open as a design.",
)
paper, panel = gallery.chosen(state)
gallery.show(state, panel)
gallery.about(paper)
