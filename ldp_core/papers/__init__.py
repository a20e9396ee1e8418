"""The figures and tables of the source papers: what is found here beside what was printed."""

from ldp_core.papers import bassily, cormode, lopuhaa, mckenna
from ldp_core.papers.panel import Panel, Paper, agreement, frame_of
from ldp_core.papers.stored import COLUMNS

PAPERS: tuple[Paper, ...] = (
    mckenna.PAPER,
    cormode.PAPER,
    bassily.PAPER,
    lopuhaa.PAPER,
)

__all__ = ["COLUMNS", "PAPERS", "Panel", "Paper", "agreement", "frame_of"]
