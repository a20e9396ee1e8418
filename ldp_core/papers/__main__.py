"""Works out the stored results of panels and the league again: ``python -m ldp_core.papers [key ...]``, all of them without a key."""

import sys

from ldp_core.papers import PAPERS, league, stored


def main(wanted: list[str]) -> None:
    for panel in (panel for paper in PAPERS for panel in paper.panels):
        if panel.stored is not None and (not wanted or panel.key in wanted):
            stored.write(panel.key, panel.compute(None, None))
            print(panel.key, flush=True)
    if not wanted or league.KEY in wanted:
        stored.write(league.KEY, league.compute())
        print(league.KEY, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
