"""``ipu-sweep``: compile a program with many settings, and show cycles against memory."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from ipu_mlir.dialects.support.text import printable
from ipu_mlir.tools.command_line import Parser, run_tool, write_output
from ipu_mlir.tools.machine_flags import (
    FLAGS,
    add_chip_flags,
    add_program_flags,
    each,
    load_plugins,
    machine,
    proportion,
)
from ipu_mlir.tools.sweep.settings import PARTIALS_TYPES

if TYPE_CHECKING:
    from ipu_mlir.dialects.machine.target import Target
    from ipu_mlir.tools.sweep.settings import Setting
    from ipu_mlir.tools.sweep.sweep import Sweep

_DESCRIPTION = """\
Compile a function of an MLIR file with every combination of settings, and print the cycles and the bytes of each.
Nothing runs; what does not fit into the memory of the tiles is marked."""
_EPILOG = """\
examples:
  ipu-sweep model.mlir                                             proportions 0.05, 0.1, 0.2, 0.4 and 0.6
  ipu-sweep model.mlir --tiles 368,736,1472 -o sweep.html          a page with a plot
  ipu-sweep model.mlir --chip mk2,bow --ipus 1,2,4,8               which machine?
  ipu-sweep model.mlir --available-memory-proportion 0.2,0.6 --most-partials 1,4,none -o sweep.csv

exit status: 0 done, 1 the program is wrong, 2 wrong usage
"""
_SUFFIXES = (".html", ".json", ".csv")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-sweep", _ipu_sweep, argv, FLAGS)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("ipu-sweep", _DESCRIPTION, _EPILOG)
    flag = parser.add_argument
    add_program_flags(parser)
    add_chip_flags(parser, several=True)
    flag(
        "--available-memory-proportion",
        type=each(proportion),
        metavar="X,...",
        help="shares of a tile's memory that operands brought to it and partial results may take "
        "(default: 0.05,0.1,0.2,0.4,0.6, or 0.6 where something else varies)",
    )
    flag("--tiles", type=each(_count), metavar="N,...", help="tiles of each IPU (default: those of the target)")
    flag(
        "--most-partials",
        type=each(_partials),
        metavar="N,...",
        help="into how many partial results a reduction may be split; none for no limit (default: none)",
    )
    flag(
        "--partials-type",
        type=each(_partials_type),
        metavar="f32,native",
        help="types of sums of 16 and 8 bits that are not complete; native is that of their result (default: f32)",
    )
    flag(
        "--processes",
        type=_process_count,
        metavar="N",
        help="settings that are compiled at the same time (default: as many as there are processors)",
    )
    flag(
        "-o",
        "--output",
        action="append",
        default=[],
        type=_output,
        metavar="FILE",
        help="write a page with a plot (.html) or the data (.json, .csv); may be repeated",
    )
    return parser.parse_args(list(argv))


def _process_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got '{text}'")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected whole numbers from 1, separated by commas, got '{text}'")
    return int(text)


def _partials(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected whole numbers from 1 or none, separated by commas, got '{text}'")
    return int(text)


def _partials_type(text: str) -> str:
    if text not in PARTIALS_TYPES:
        raise argparse.ArgumentTypeError(f"expected {' or '.join(PARTIALS_TYPES)}, separated by a comma, got '{text}'")
    return text


def _output(text: str) -> str:
    if Path(text).suffix not in _SUFFIXES:
        raise argparse.ArgumentTypeError(f"'{text}' says not what to write; it ends in {', '.join(_SUFFIXES)}")
    return text


def _ipu_sweep(argv: Sequence[str]) -> int:
    arguments = _parse(argv)
    load_plugins(arguments)

    from ipu_mlir.compilation.processes import show_progress
    from ipu_mlir.compilation.variants import Variants
    from ipu_mlir.dialects.support.errors import IpuError
    from ipu_mlir.tools.program_files import read_program
    from ipu_mlir.tools.sweep.measure import measure
    from ipu_mlir.tools.sweep.settings import MACHINE_AXES, settings
    from ipu_mlir.tools.sweep.sweep import Sweep

    for path in map(Path, arguments.output):  # before it takes long
        if not path.parent.is_dir():
            raise IpuError(f"cannot write {path}: there is no folder {path.parent}")
    source = read_program(arguments.file)
    variants = Variants(source, arguments.entry)
    axes = {name: getattr(arguments, name) for name in MACHINE_AXES if getattr(arguments, name) is not None}
    varied = [name for name, values in axes.items() if len(values) > 1]
    targets: dict[Setting, Target] = {}
    for values in product(*axes.values()):
        own = dict(zip(axes, values, strict=True))
        target = machine(argparse.Namespace(**{**vars(arguments), **own}), variants.target)
        given = (arguments.available_memory_proportion, arguments.tiles, arguments.most_partials)
        for setting in settings(*given, target.tiles_per_ipu, arguments.partials_type, {x: own[x] for x in varied}):
            targets[setting] = replace(target, tiles_per_ipu=setting.tiles, emulated=True)
    try:
        outcomes, refused = measure(variants, targets, _progress(len(targets)), arguments.processes)
    finally:
        show_progress("")
    sweep = Sweep(printable(f"{Path(source.name).name}: {variants.entry}"), targets, outcomes, refused)
    print(sweep.table(), end="", flush=True)
    for path in arguments.output:
        write_output(path, _content(sweep, Path(path).suffix))
    return 0


def _progress(total: int) -> "Callable[[int, Setting], None]":
    from ipu_mlir.compilation.processes import show_progress

    return lambda number, setting: show_progress(f"{number} of {total}: {setting}")


def _content(sweep: "Sweep", suffix: str) -> str:
    if suffix == ".html":
        from ipu_mlir.tools.sweep.page import page

        return page(sweep)
    return sweep.json() if suffix == ".json" else sweep.csv()


if __name__ == "__main__":
    sys.exit(main())
