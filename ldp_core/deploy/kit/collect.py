"""Turns the reports that came back into answers: python collect.py reports.csv. All that follows the files goes to the command
`collect` of the program that made this design, whose folder has to be on the path: PYTHONPATH=/path/to/the/program."""

import importlib.util
import runpy
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Run `python -m ldp_core collect` with the design beside this file."""
    if importlib.util.find_spec("ldp_core") is None:
        sys.exit("ldp_core is not installed here: set PYTHONPATH to the folder of the program that made this design.")
    sys.argv = ["ldp_core", "collect", str(Path(__file__).resolve().parent), *arguments]
    try:
        runpy.run_module("ldp_core", run_name="__main__")
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed here: install the program's requirements.txt first.")


if __name__ == "__main__":
    main(sys.argv[1:])
