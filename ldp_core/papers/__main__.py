"""Makes stored results again, in seconds to minutes each: ``python -m ldp_core.papers make NAME ...``."""

import argparse
import sys
from collections.abc import Sequence

from ldp_core.papers import PAPERS, league, stored


def main(arguments: Sequence[str]) -> None:
    """Make the results that are named, and keep them."""
    made = {panel.key: panel.compute for paper in PAPERS for panel in paper.panels if panel.seconds}
    made[league.KEY] = league.compute
    parser = argparse.ArgumentParser(prog="python -m ldp_core.papers", description=__doc__)
    parser.add_argument("make", choices=["make"])
    parser.add_argument(
        "names", nargs="+", metavar="NAME", choices=sorted(made), help=f"one of {', '.join(sorted(made))}"
    )
    for name in parser.parse_args(arguments).names:
        stored.write(name, made[name]())


if __name__ == "__main__":
    main(sys.argv[1:])
