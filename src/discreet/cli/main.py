"""The command `discreet`: its sub-commands, loaded when they are called, and the exit codes of errors."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

from discreet.cli.help import PanelCommand, PanelGroup
from discreet.cli.output import OUTPUTS, SCHEMA
from discreet.errors import InfeasibleError, InputError, InternalError, excerpt, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

COMMANDS = {
    "ptable": "Make a p-table: the noise distribution of every true count, from variance and bound.",
    "programme": "Sketch, show, check and count a programme of tables.",
    "keys": "Make a secret, and add record keys to data.",
    "assess": "Assess the disclosure risk of everything published with a given noise.",
    "design": "Recommend the noise for a programme of tables, or state what prevents it.",
    "protect": "Count all tables of a programme, add noise, and write a release.",
    "attack": "Attack a release and compare the estimates with the true counts.",
    "utility": "Measure the effect of noise on data users: of a release, or on small areas.",
    "compare": "Publish the same data with several mechanisms and compare risk and utility.",
    "report": "Write one page on a release: the verdict, its noise, attacks and accuracy.",
    "paper": "Recompute every number and figure of the paper, and list the differences.",
    "convert": "Write the tables of a release in another format.",
    "verify": "Check the files of a release; with the data, reproduce it and compare.",
    "demo": "Choose noise for a census, publish it, attack it, and write a report.",
    "synth": "Write a synthetic census: persons in households, with all topics of the EU census.",
}
"""Commands in the order of the help, with their summaries; each is a module of this room."""


class OnDemand(Mapping[str, Any]):
    """Commands by name. A module with commands of its own has them in `app`, any other is a function of its name."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a command of click, which typer keeps to itself
        if name not in COMMANDS:
            raise KeyError(name)
        module = import_module(f"discreet.cli.{name}")
        if not hasattr(module, "app"):
            alone = typer.Typer(rich_markup_mode=None, add_completion=False)
            alone.command(name, cls=PanelCommand)(getattr(module, name))
            return get_command(alone)
        group = get_command(module.app)
        group.name = name
        return group

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandsOnDemand(PanelGroup):
    """The group of all commands; its help loads none of them."""

    def __init__(self, **how: Any) -> None:  # noqa: ANN401 - handed on to typer
        super().__init__(**how)
        self.commands = OnDemand()  # type: ignore[assignment] # nothing is added to it

    def summaries(self) -> Iterable[tuple[str, str]]:
        """Return the commands with their summaries."""
        return COMMANDS.items()

    def list_commands(self, _ctx: Any) -> list[str]:  # noqa: ANN401 - a context of click
        """Return the names of the commands."""
        return list(COMMANDS)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - a context of click
        """Read the arguments up to the name of the command."""
        with _short_messages():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - a context of click
        """Run the command, which reads its own arguments."""
        with _short_messages():
            return super().invoke(ctx)


@contextmanager
def _short_messages() -> Iterator[None]:
    """Let no message of typer on an argument show more than the start of it."""
    try:
        yield
    except Exception as error:
        if isinstance(getattr(error, "message", None), str):
            error.message = shortened(error.message)  # type: ignore[attr-defined] # as just seen
        raise


NO_TEXT = "not text in UTF-8. Rename the file or folder, and start again."

app = typer.Typer(
    name="discreet",
    help="Discreet noise for discrete counts: noise distributions and p-tables for confidential statistics.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    cls=CommandsOnDemand,
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the shape of a typer callback
    if wanted:
        from importlib.metadata import version

        typer.echo(f"discreet {version('discreet')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; a user's mistake ends with one message and exit code 2."""
    _settle_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot print ± shows a question mark instead of ending in an error.
            stream.reconfigure(errors="replace")
    heard = _listen()
    try:
        _run()
    except BaseException:
        # Libraries turn an interrupt into errors of many kinds.
        if heard and heard[0] == signal.SIGINT:
            print(f"\nInterrupted. {OUTPUTS.left_behind()}", file=sys.stderr)  # noqa: T201 - this is where messages are shown
        if heard:
            sys.exit(128 + heard[0])
        raise


def _run() -> None:
    try:
        _check_arguments()
        try:
            app()
        finally:
            sys.stdout.flush()
    except InputError as error:
        _show(error)
        sys.exit(2)
    except InternalError as error:
        print(f"internal error: {error}", file=sys.stderr)  # noqa: T201 - this is where messages are shown
        sys.exit(1)
    except MemoryError:
        print("error: There is not enough memory. Free some, or do less at a time.", file=sys.stderr)  # noqa: T201
        sys.exit(2)
    except UnicodeEncodeError as error:
        _show(_not_encoded(error))
        sys.exit(2)
    except BrokenPipeError:
        # The reader closed the pipe; Python would report that again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f" ({excerpt(str(error.filename))})" if error.filename else ""
        print(f"error: {error.strerror or error}{where}. Check the path and the space left.", file=sys.stderr)  # noqa: T201
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)


def _settle_streams() -> None:
    """Refuse a closed standard output; open closed streams, so that no file gets a number that libraries write to."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system assigns the lowest free number.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    if sys.stdout is None:
        print("error: Standard output is closed. Send it to a file, or to /dev/null.", file=sys.stderr)  # noqa: T201
        sys.exit(2)


def _check_arguments() -> None:
    """Refuse arguments that are not text, such as names of files in another encoding: a record cannot contain them."""
    for argument in sys.argv[1:]:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"The argument {argument!a} is {NO_TEXT}") from error


def _not_encoded(error: UnicodeEncodeError) -> InputError:
    """Return the refusal of a text that cannot be encoded; the text itself may be confidential."""
    try:
        # Bytes of a path that are not text are characters that only this way of encoding knows.
        error.object.encode("utf-8", "surrogateescape")
        is_path = error.encoding == "utf-8"
    except UnicodeEncodeError:
        is_path = False
    if is_path:
        return InputError(f"The path of a file or folder is {NO_TEXT}")
    return InputError(
        f"A text in the input has a character that cannot be written in the encoding {error.encoding}. Replace the "
        "character, and start again."
    )


def _listen() -> list[int]:
    """Exit in order on a signal, so that temporary files are removed; return the list of signals received."""
    heard: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        heard.append(number)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # nohup and the like have set their own.
        if number and signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, end)
    return heard


def _show(error: InputError) -> None:
    print(f"error: {error}", file=sys.stderr)  # noqa: T201 - this is where messages are shown
    if "--json" in sys.argv:
        kept = {name: value for name, value in vars(error).items() if isinstance(value, str | int | float)}
        short = {name: shortened(value) if isinstance(value, str) else value for name, value in kept.items()}
        content = {"type": type(error).__name__, "message": str(error), **short}
        refused = {"feasible": False} if isinstance(error, InfeasibleError) else {}
        typer.echo(json.dumps({"schema": SCHEMA, "error": content, **refused}, indent=2, ensure_ascii=True))
