"""The flags that say which program and which machine: the same in all tools that compile."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ipu_mlir.tools.command_line import Parser, UsageError

if TYPE_CHECKING:
    from ipu_mlir.dialects.machine.target import Target

FLAGS: Mapping[str, str] = {
    "entry": "--entry {}",
    "tiles_per_ipu": "--tiles {}",
    "ipus": "--ipus {}",
    "replicas": "--replicas {}",
    "available_memory_proportion": "--available-memory-proportion {}",
    "partials_type": "--partials-type {}",
    "kernels": "--kernels {}",
    "profile()": "--no-run --profile FILE",
}
"""What messages advise in Python, as it is given on the command line."""


def add_program_flags(parser: Parser) -> None:
    """The file and its entry, for a program that is compiled."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="MLIR text or bytecode; - is stdin")
    add_entry_flag(parser)
    add_plugin_flags(parser)


def add_plugin_flags(parser: Parser, *names: str) -> None:
    """``--load``, and other ``names`` for it."""
    about = "load a plugin, a Python file or module with passes, dialects, codelets or planners; may be repeated"
    parser.add_argument("--load", *names, metavar="FILE.py", action="append", default=[], help=about)


def load_plugins(arguments: argparse.Namespace) -> None:
    """Make the plugins of installed packages and of ``--load`` known.

    Raises:
        CompileError: one cannot be loaded.
    """
    from ipu_mlir.passes.plugins import load_installed, load_plugin

    load_installed()
    for each in arguments.load:
        load_plugin(each)


def add_entry_flag(parser: Parser) -> None:
    """``--entry``."""
    about = "the function that runs (default: the only public one, or of several main)"
    parser.add_argument("--entry", metavar="NAME", help=about)


def add_chip_flags(parser: Parser, several: bool = False) -> None:
    """The kind of chip, and how many; each flag but those of figures and of the order takes ``several`` values."""
    more = ",..." if several else ""
    name, number = (each(str), each(whole_number)) if several else (str, int)
    about = "ipu1, ipu2 or ipu21; or mk1, mk2, bow (default: the target of the module)"
    parser.add_argument("--chip", type=name, metavar=f"NAME{more}", help=about)
    about = "a figure of the machine, as host_read_bytes_per_second=5e9 (again for others; default: that of the chip)"
    parser.add_argument("--figure", action="append", default=[], metavar="NAME=VALUE", type=figure, help=about)
    about = "number of IPUs (default: those of the target)"
    parser.add_argument("--ipus", type=number, metavar=f"N{more}", help=about)
    about = "how many replicas run at once (default: those of the target)"
    parser.add_argument("--replicas", type=number, metavar=f"N{more}", help=about)
    about = "which IPU each shard is: auto, zigzag, snake or hoof (default: that of the target)"
    parser.add_argument("--selection-order", choices=("auto", "zigzag", "snake", "hoof"), metavar="ORDER", help=about)
    about = "tiles of each IPU that only take and give data of the host (default: those of the target)"
    parser.add_argument("--io-tiles", type=number, metavar=f"N{more}", help=about)


def each(convert: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """A converter of comma-separated values; each value counts once."""
    return lambda text: list(dict.fromkeys(convert(value.strip()) for value in text.split(",")))


def whole_number(text: str) -> int:
    """One of several whole numbers."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected whole numbers, separated by commas, got '{text}'")
    return int(text)


def figure(text: str) -> tuple[str, int | float | bool]:
    """A figure of the machine and its value, of ``NAME=VALUE``."""
    from ipu_mlir.dialects.machine.figures import FIGURES

    name, _, written = text.partition("=")
    name = name.strip().replace("-", "_")
    if name not in FIGURES:
        known = ", ".join(FIGURES)
        raise argparse.ArgumentTypeError(f"there is no figure '{name}' of the machine; there are {known}")
    try:
        if FIGURES[name].kind is bool:
            return name, {"true": True, "false": False, "1": True, "0": False}[written.strip().lower()]
        value = float(written)
        return name, int(value) if FIGURES[name].is_count and value.is_integer() else value
    except (KeyError, ValueError):
        wanted = "true or false" if FIGURES[name].kind is bool else f"a number of {FIGURES[name].unit}"
        raise argparse.ArgumentTypeError(f"{name} is {wanted}, got '{written}'") from None


def file_name(text: str) -> str:
    """A name of a file; an empty one, as of a variable of the shell that is not set, names none."""
    if not text:
        raise argparse.ArgumentTypeError("expected a file, or - for stdin, got an empty name")
    return text


def proportion(text: str) -> float:
    """A share of a tile's memory."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"a proportion is more than 0 and at most 1, got '{text}'")
    return value


def machine(arguments: argparse.Namespace, of_module: "Target", **fields: object) -> "Target":
    """The machine that the flags of ``add_chip_flags`` name, with these ``fields``; else that of the module.

    Raises:
        UsageError: there is no such chip.
        TargetError: there is no such machine.
    """
    from ipu_mlir.dialects.machine.target import Target
    from ipu_mlir.dialects.support.errors import TargetError

    try:
        target = Target.named(arguments.chip) if arguments.chip else of_module
    except TargetError as error:
        raise UsageError(f"argument --chip: {error}") from error
    own = ("ipus", "replicas", "selection_order", "io_tiles")
    given = {**dict(arguments.figure), **{name: getattr(arguments, name) for name in own}}
    given |= {name: value for name, value in fields.items() if value is not None}
    return replace(target, **{name: value for name, value in given.items() if value is not None})
