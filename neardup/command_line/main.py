"""Run a command from arguments to a status; errors of the user end in one line."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from neardup.command_line.arguments import compare_options, evaluate_options, find_options
from neardup.command_line.compare_command import compare
from neardup.command_line.evaluate import evaluate
from neardup.command_line.find import find
from neardup.compiling import COMPILING, announce_compilation
from neardup.errors import BadInputError, NearDupError

_DONE = 0
_NOT_ALL_READ = 1
_BAD_INPUT = 2
# What a shell reports of a process that such a signal ended.
_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM
_READER_LEFT = 141

_COMMANDS = {"compare": (compare_options, compare), "evaluate": (evaluate_options, evaluate)}


def main(arguments: Sequence[str]) -> int:
    """Run a command and return the status of ``status_of``."""
    return status_of("neardup", lambda: _run(arguments))


def status_of(program: str, run: Callable[[], None], *, interrupted: str = "interrupted") -> int:
    """Run a program to its status; errors of the user end in one line.

    Returns:
        0; 1 where some of the input could not be read; 2 for bad options and where nothing was
        done; 130 after Ctrl-C; 141 when the reader of standard output left, as ``head`` does, about
        which nothing is said.
    """
    # So that the temporary folder goes, as it does after Ctrl-C.
    signal.signal(signal.SIGTERM, _leave)
    if sys.stderr is None:
        # A shell closed it; print would take standard output in its place.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (until the end)
    announce_compilation(lambda: print(f"{program}: {COMPILING}", file=sys.stderr, flush=True))
    try:
        run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BadInputError as error:
        message, status = str(error), _NOT_ALL_READ
    except NearDupError as error:
        message, status = str(error), _BAD_INPUT
    except BrokenPipeError:
        # Python flushes standard output once more at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_LEFT
    except KeyboardInterrupt:
        message, status = interrupted, _INTERRUPTED
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        message, status = about + (error.strerror or str(error)), _BAD_INPUT
    else:
        return _DONE
    print(f"{program}: {' '.join(message.split())}", file=sys.stderr)
    return status


def _run(arguments: Sequence[str]) -> None:
    if arguments and arguments[0] in _COMMANDS:
        read, run = _COMMANDS[arguments[0]]
        run(read(arguments[1:]))
    else:
        find(find_options(arguments))


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(_TERMINATED)
