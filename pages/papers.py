"""The figures and tables of the source papers: what is found here beside what was printed."""

from pages.ui import layout
from pages.ui.papers import gallery

state = layout.open_page(
    "Papers",
    "The papers' figures and tables with this project's mechanisms, beside the printed numbers. Most settings open as a design.",
)
paper, panel = gallery.chosen()
gallery.show(state, panel)
gallery.about(paper)
