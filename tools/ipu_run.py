"""``ipu-run``: compile a function of a file and run it."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ipu_mlir.dialects.text import printable
from ipu_mlir.tools.command_line import FAILED, Parser, UsageError, run_tool, write_output

if TYPE_CHECKING:
    import numpy as np

    from ipu_mlir.dialects.bindings import ir
    from ipu_mlir.dialects.target import Target
    from ipu_mlir.dynamic_shapes import DynamicExecutable
    from ipu_mlir.executable import Executable

_DESCRIPTION = "Compile a function of an MLIR file for the IPU and run it on NumPy."
_EPILOG = """\
examples:
  ipu-run model.mlir --seed 1                              random inputs, one line per result
  ipu-run model.mlir --inputs io.npz --check               in0, in1, ... in, out0, out1, ... compared
  ipu-run model.mlir --tiles 16 --per-tile --outputs o.npz

exit status: 0 done, 1 the program or an input is wrong, or a result is off, 2 wrong usage
"""
_TIMED_SECONDS, _MOST_RUNS = 1.0, 1000
"""How long, and at most how often, --time repeats the run; at least three times."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-run", _ipu_run, argv)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("ipu-run", _DESCRIPTION, _EPILOG)
    flag = parser.add_argument
    flag("file", metavar="FILE", help="MLIR text or bytecode; - is stdin")
    flag("--entry", default="main", metavar="NAME", help="the function to run (default: main)")
    flag("--inputs", metavar="FILE.npz", help="arrays in0, in1, ...; random ones without it")
    flag("--seed", type=int, metavar="N", help="seed of random inputs (default: 0)")
    flag("--outputs", metavar="FILE.npz", help="write the results as out0, out1, ...")
    flag("--check", action="store_true", help="compare the results with out0, out1, ... of --inputs")
    flag("--atol", type=float, metavar="X", help="tolerance of --check (default: 2e-5 of the largest expected value)")
    flag("--tiles", type=int, metavar="N", help="tiles of each IPU (default: those of the module's target)")
    flag("--ipus", type=int, metavar="N", help="number of IPUs")
    flag("--emulated", action="store_true", help="warn if the memory of the tiles is too small, and run all the same")
    flag("--per-tile", action="store_true", help="run tile by tile, each with its own memory: slow and exact")
    flag("--time", action="store_true", help="say how long compiling and running took")
    flag(
        "--profile", metavar="OUT.json", help="write cycles, bytes and memory of this run on the target, for ipu-report"
    )
    flag("--chrome-trace", metavar="OUT.json", help="write the steps of this run as events for Perfetto")
    flag("--pass-pipeline", metavar="TEXT", help="passes to compile with, instead of ipu-compile")
    arguments = parser.parse_args(list(argv))
    if arguments.inputs is not None and arguments.seed is not None:
        raise UsageError("--inputs and --seed exclude each other")
    if arguments.check and arguments.inputs is None:
        raise UsageError("--check needs the expected results in --inputs FILE.npz")
    return arguments


def _ipu_run(argv: Sequence[str]) -> int:
    arguments = _parse(argv)

    from ipu_mlir.tools.npz import npz_bytes, random_inputs, read_arrays, take_inputs

    arrays = read_arrays(arguments.inputs) if arguments.inputs else {}
    started = time.perf_counter()
    with _profiles_of_failures(arguments):
        executable = _sized(_compiled(arguments), arrays)
    compiled = time.perf_counter() - started
    if arguments.inputs:
        inputs = take_inputs(arrays, executable.argument_specs, arguments.inputs)
    else:
        inputs = random_inputs(executable.argument_specs, arguments.seed or 0)
    run = executable.run_per_tile if arguments.per_tile else executable.run
    started = time.perf_counter()
    results = run(inputs)
    first = time.perf_counter() - started
    for index, result in enumerate(results):
        print(f"out{index}: {_summary(result)}")
    if arguments.time:
        print(f"compile: {compiled:.3f} s, first run: {first:.3f} s", end="")
        print("" if arguments.per_tile else f", run: {_median_seconds(run, inputs) * 1e3:.3f} ms")
    if arguments.outputs:
        write_output(arguments.outputs, npz_bytes(results))
    if _wants_profile(arguments):
        from ipu_mlir.tools.profile_output import write_profiles

        write_profiles(executable.profile(inputs), arguments)
    return _check(results, arrays, arguments) if arguments.check else 0


def _wants_profile(arguments: argparse.Namespace) -> bool:
    return bool(arguments.profile or arguments.chrome_trace)


def _profiles_of_failures(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """Also a program that does not fit into memory has the profile that was asked for."""
    if not _wants_profile(arguments):
        return nullcontext()
    from ipu_mlir.tools.profile_output import profiles_of_failures

    return profiles_of_failures(arguments)


def _sized(program: "Executable | DynamicExecutable", arrays: "dict[str, np.ndarray]") -> "Executable":
    """``program`` for the sizes of the input arrays, where its own are not all known."""
    from ipu_mlir.executable import Executable

    if isinstance(program, Executable):
        return program
    if not arrays:
        raise UsageError(f"{program.entry} has sizes that are not known; --inputs FILE.npz says them")
    inputs = [arrays[f"in{number}"] for number in range(len(arrays)) if f"in{number}" in arrays]
    return program.specialized(inputs)


def _compiled(arguments: argparse.Namespace) -> "Executable | DynamicExecutable":
    import ipu_mlir
    from ipu_mlir.passes.pipeline_text import PipelineError

    try:
        program = _program(arguments.file)
        target = _target(arguments)
        if target is None and arguments.emulated:
            program, target = _emulated(program)
        return ipu_mlir.compile(program, entry=arguments.entry, target=target, pipeline=arguments.pass_pipeline)
    except PipelineError as error:
        raise UsageError(str(error)) from error


def _program(file: str) -> "Path | ir.Module":
    if file != "-":
        return Path(file)
    from ipu_mlir.dialects import ipu
    from ipu_mlir.dialects.parsing import parse_module, source_of_bytes

    return parse_module(source_of_bytes(sys.stdin.buffer.read(), "<stdin>"), ipu.context())


def _target(arguments: argparse.Namespace) -> "Target | None":
    """The machine of the command line; None where it names none, so that the module's own counts."""
    if arguments.tiles is None and arguments.ipus is None:
        return None
    from ipu_mlir.dialects.target import Target

    given = {"tiles_per_ipu": arguments.tiles, "ipus": arguments.ipus, "emulated": arguments.emulated}
    return Target(**{name: value for name, value in given.items() if value is not None})


def _emulated(program: "Path | ir.Module") -> "tuple[ir.Module, Target]":
    """The program, and the machine that it names as one that is emulated."""
    from dataclasses import replace

    from ipu_mlir.dialects.module_target import module_target
    from ipu_mlir.sources import load_module

    module = load_module(program)
    return module, replace(module_target(module.operation), emulated=True)


def _summary(result: "np.ndarray") -> str:
    """Shape, type and range of a result in one line."""
    from ipu_mlir.specs import spec_of

    if result.size == 0:
        return f"{spec_of(result)} empty"
    wide = result.astype("float64")
    return f"{spec_of(result)} min {wide.min():.6g} mean {wide.mean():.6g} max {wide.max():.6g}"


def _median_seconds(run: Callable[[Any], Any], inputs: "list[np.ndarray]") -> float:
    times: list[float] = []
    ends = time.perf_counter() + _TIMED_SECONDS
    while len(times) < 3 or (len(times) < _MOST_RUNS and time.perf_counter() < ends):
        started = time.perf_counter()
        run(inputs)
        times.append(time.perf_counter() - started)
    return sorted(times)[len(times) // 2]


def _check(results: "list[np.ndarray]", expected: "dict[str, np.ndarray]", arguments: argparse.Namespace) -> int:
    """Say how far each result is off; the exit status."""
    from ipu_mlir.tools.compare import compare
    from ipu_mlir.tools.npz import typed

    status = 0
    for index, result in enumerate(results):
        name = f"out{index}"
        if name not in expected:
            print(printable(f"check {name}: {arguments.inputs} has no {name} to compare with"))
            status = FAILED
            continue
        comparison = compare(result, typed(expected[name], result.dtype), arguments.atol)
        print(f"check {name}: {'FAILED' if comparison.off else 'ok'}, {comparison.text}")
        status = FAILED if comparison.off else status
    return status
