"""The command line: ``python -m ldp_core design|audit|kit|collect`` does from a file what the app does.

Results go to standard output, progress and sentences about what went wrong to standard error. Exit codes: 0 done, 2 bad input,
130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ldp_core.deploy.commands import parsers

DONE = 0
BAD_INPUT = 2
STOPPED = 130
COMMANDS = {
    "design": "Build or fit the mechanism of a configuration, say what it costs, and write the design as a zip",
    "audit": "Audit a design or a strategy matrix: exact epsilon, whether it answers the questions, and how far it is from the best",
    "kit": "Write the kit of a design: clients, audit, test vectors and a report for a privacy review, in one zip",
    "collect": "Count the reports of a kit's devices, and answer the questions from them",
}
"""What each does. Its arguments are in the function of the same name in `parsers`, its work in the module of that name, which is imported
when it is asked for, since that takes seconds."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{message[:1].upper()}{message[1:]}: see {self.prog} --help.\n")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = _Parser(
        prog="python -m ldp_core",
        description="Local differential privacy from the command line, with the numbers of the app.",
        epilog="CONFIG is a file that the app has saved or exported: configuration.json, or a zip with it.",
    )
    below = top.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, about in COMMANDS.items():
        command = below.add_parser(name, help=about, description=about + ".")
        getattr(parsers, name)(command)
    return top


def main(arguments: Sequence[str]) -> int:
    """Run a command. Returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # characters that its encoding lacks are written as \\u2265, say
            stream.reconfigure(errors="backslashreplace")
    try:
        given = parser().parse_args(arguments)
    except SystemExit as left:  # after --help, or a sentence
        return int(left.code or 0)
    from ldp_core.deploy.commands import files
    from ldp_core.deploy.commands.terminal import Stopping, stopping, telling
    from ldp_core.run import Interrupted

    try:
        files.check_apart(given)
        with stopping() as stop, telling():
            importlib.import_module(f"{__name__}.{given.command}").run(given, stop)
            print(end="", flush=True)
            return STOPPED if stop.is_set() else DONE
    except (KeyboardInterrupt, Interrupted, Stopping):
        print("Stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of the pipe has seen enough, as `head` has
        return DONE
    except (ValueError, OSError, MemoryError) as error:
        print(_sentence(error, arguments), file=sys.stderr)
        return BAD_INPUT
    finally:
        try:
            print(end="", flush=True)
        except OSError:  # what is left would be written at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: Exception, arguments: Sequence[str]) -> str:
    if isinstance(error, OSError) and error.strerror:
        from ldp_core.deploy.collector.private_folder import NO_ROOM, no_room  # help does without

        # Other files than those given are of this program's own.
        name = error.filename if error.filename in arguments else Path(str(error.filename or "The system")).name
        return f"{name}: {NO_ROOM if no_room(error) else f'{error.strerror}.'}"
    if isinstance(error, MemoryError):
        return "There is not enough memory for this: ask fewer questions at once, or use coarser bins."
    return " ".join(str(error).split())
