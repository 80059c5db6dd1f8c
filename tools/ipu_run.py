"""``ipu-run``: compile a function of a file and run it."""

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from ipu_mlir.dialects.support.text import printable
from ipu_mlir.tools.command_line import FAILED, Parser, UsageError, run_tool, write_output
from ipu_mlir.tools.machine_flags import FLAGS, add_chip_flags, add_program_flags, load_plugins, machine, proportion

if TYPE_CHECKING:
    import numpy as np

    from ipu_mlir.compilation.dynamic_shapes import DynamicExecutable
    from ipu_mlir.compilation.executable import Executable

_DESCRIPTION = "Compile a function of an MLIR file for the IPU and run it on NumPy."
_EPILOG = """\
examples:
  ipu-run model.mlir --seed 1                              random inputs, one line per result
  ipu-run model.mlir --inputs io.npz --check               in0, in1, ... in, out0, out1, ... compared
  ipu-run model.mlir --tiles 16 --per-tile --outputs o.npz
  ipu-run model.mlir --chip ipu21 --no-run --profile p.json   estimates, where running takes long or much memory

exit status: 0 done, 1 the program or an input is wrong, or a result is off, 2 wrong usage
"""
_SHOWN = 100
"""Elements of a result that --print-values prints in full."""
_TIMED_SECONDS, _MOST_RUNS = 1.0, 1000
"""The time for which, and the number of times that at most, --time repeats the run; at least three times."""
_OF_A_RUN = ("check", "outputs", "print_values", "per_tile")
"""What is asked of results."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-run", _ipu_run, argv, FLAGS)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("ipu-run", _DESCRIPTION, _EPILOG)
    flag = parser.add_argument
    add_program_flags(parser)
    flag("--inputs", metavar="FILE.npz", help="arrays in0, in1, ...; random ones without it")
    flag("--seed", type=_whole, metavar="N", help="seed of random inputs (default: 0)")
    values = f"print the results as NumPy does, those of more than N elements in part (default: {_SHOWN})"
    flag("--print-values", type=_whole, nargs="?", const=_SHOWN, metavar="N", help=values)
    flag("--outputs", metavar="FILE.npz", help="write the results as out0, out1, ...")
    flag("--check", action="store_true", help="compare the results with out0, out1, ... of --inputs")
    flag("--atol", type=float, metavar="X", help="tolerance of --check (default: 2e-5 of the largest expected value)")
    add_chip_flags(parser)
    flag("--tiles", type=int, metavar="N", help="tiles of each IPU (default: those of the target)")
    share = "the share of a tile's memory that operands brought to it and partial results may take (default: 0.6)"
    flag("--available-memory-proportion", type=proportion, metavar="X", help=share)
    merged = "let collectives of replicas that give so many bytes together have one sync (default: 0)"
    flag("--merge-collectives", type=_whole, metavar="BYTES", help=merged)
    merged = "let variables in remote memory that have one form be rows of one buffer (default: beneficial)"
    flag("--merge-remote-buffers", choices=("beneficial", "all", "none"), help=merged)
    modes = "how floats behave, such as 'rounding=stochastic overflow=clip exceptions=inv,div0'; of ipu-set-float-modes"
    flag("--float-modes", metavar="TEXT", help=modes)
    partials = "type of sums of 16 and 8 bits that are not complete: f32 (default), or native, that of their result"
    flag("--partials-type", choices=("f32", "native"), help=partials)
    outlined = "give each layer of a large program code of its own; else those that are alike are one function"
    flag("--no-outline-layers", action="store_true", help=outlined)
    flag("--emulated", action="store_true", help="warn if the memory of the tiles is too small, and run all the same")
    about = (
        "what is machine code (default: auto); checked: all that can, and kernels and blocks are held to what they say"
    )
    flag("--kernels", choices=("auto", "never", "always", "checked"), help=about)
    flag("--per-tile", action="store_true", help="run tile by tile, each with its own memory: slow and exact")
    flag("--no-run", action="store_true", help="compile only; --profile then takes loops of unknown length to run once")
    flag("--time", action="store_true", help="say how long compiling and running took")
    flag(
        "--profile", metavar="OUT.json", help="write cycles, bytes and memory of this run on the target, for ipu-report"
    )
    flag("--chrome-trace", metavar="OUT.json", help="write the steps of this run as events for Perfetto")
    flag("--planner", metavar="NAME", help="partition ops by a planner of a plugin (see --load)")
    flag("--pass-pipeline", metavar="TEXT", help="passes to compile with, instead of ipu-compile")
    shown = f"--print-values={_SHOWN}"  # without this the file would be taken for N
    arguments = parser.parse_args([shown if each == "--print-values" else each for each in argv])
    if arguments.inputs is not None and arguments.seed is not None:
        raise UsageError("--inputs and --seed exclude each other")
    if arguments.check and arguments.inputs is None:
        raise UsageError("--check needs the expected results in --inputs FILE.npz")
    if arguments.pass_pipeline is not None and arguments.available_memory_proportion is not None:
        raise UsageError(
            "--available-memory-proportion is for the default passes; give it to the ipu-partition of yours"
        )
    if arguments.pass_pipeline is not None and arguments.merge_collectives is not None:
        raise UsageError("--merge-collectives is for the default passes; put an ipu-merge-collectives into yours")
    if arguments.pass_pipeline is not None and arguments.merge_remote_buffers is not None:
        raise UsageError("--merge-remote-buffers is for the default passes; put an ipu-merge-remote-buffers into yours")
    if arguments.pass_pipeline is not None and arguments.float_modes is not None:
        raise UsageError("--float-modes is for the default passes; put an ipu-set-float-modes into yours")
    if arguments.pass_pipeline is not None and arguments.partials_type is not None:
        raise UsageError("--partials-type is for the default passes; give it to the ipu-widen-sums of yours")
    if arguments.pass_pipeline is not None and arguments.no_outline_layers:
        raise UsageError("--no-outline-layers is for the default passes; leave ipu-outline-layers out of yours")
    asked = [name for name in _OF_A_RUN if getattr(arguments, name) not in (None, False)] if arguments.no_run else []
    if asked:
        raise UsageError(f"--no-run and --{asked[0].replace('_', '-')} exclude each other: there are no results")
    return arguments


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, got '{text}'")
    return int(text)


def _ipu_run(argv: Sequence[str]) -> int:
    arguments = _parse(argv)
    load_plugins(arguments)

    from ipu_mlir.dialects.storage.npz import read_arrays
    from ipu_mlir.tools.npz import npz_bytes, random_inputs, take_inputs

    arrays = read_arrays(arguments.inputs) if arguments.inputs else {}
    started = time.perf_counter()
    with _profiles_of_failures(arguments):
        executable = _sized(_compiled(arguments, arrays), arrays)
    compiled = time.perf_counter() - started
    if arguments.no_run:
        if arguments.time:
            print(f"compile: {compiled:.3f} s")
        _write_profiles(executable, None, arguments)
        return 0
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
        if arguments.print_values is not None:
            print(_values(result, arguments.print_values))
    if arguments.time:
        print(f"compile: {compiled:.3f} s, first run: {first:.3f} s", end="")
        print("" if arguments.per_tile else f", run: {_median_seconds(run, inputs) * 1e3:.3f} ms")
    if arguments.outputs:
        write_output(arguments.outputs, npz_bytes(results))
    _write_profiles(executable, inputs, arguments)
    return _check(results, arrays, arguments) if arguments.check else 0


def _wants_profile(arguments: argparse.Namespace) -> bool:
    return bool(arguments.profile or arguments.chrome_trace)


def _write_profiles(executable: "Executable", inputs: "list[np.ndarray] | None", arguments: argparse.Namespace) -> None:
    if _wants_profile(arguments):
        from ipu_mlir.tools.profile_output import write_profiles

        write_profiles(executable.profile(inputs), arguments)


def _profiles_of_failures(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """Also a program that does not fit into memory has the profile that was asked for."""
    if not _wants_profile(arguments):
        return nullcontext()
    from ipu_mlir.tools.profile_output import profiles_of_failures

    return profiles_of_failures(arguments)


def _sized(program: "Executable | DynamicExecutable", arrays: "dict[str, np.ndarray]") -> "Executable":
    """``program`` for the sizes of the input arrays, where its own are not all known."""
    from ipu_mlir.compilation.executable import Executable
    from ipu_mlir.tools.npz import arguments_of

    if isinstance(program, Executable):
        return program
    if not arrays:
        raise UsageError(f"{program.entry} has sizes that are not known; --inputs FILE.npz says them")
    return program.specialized(arguments_of(arrays))


def _compiled(arguments: argparse.Namespace, arrays: "dict[str, np.ndarray]") -> "Executable | DynamicExecutable":
    from ipu_mlir.compilation.compiler import compile_made
    from ipu_mlir.compilation.how import How
    from ipu_mlir.compilation.sources import read_module
    from ipu_mlir.dialects.attributes.attributes import module_target
    from ipu_mlir.passes.core.pipeline_text import PipelineError
    from ipu_mlir.passes.plugins import planner_named
    from ipu_mlir.tools.npz import arguments_of
    from ipu_mlir.tools.program_files import read_program

    module = read_module(read_program(arguments.file, arguments_of(arrays)))
    target = machine(
        arguments,
        module_target(module.operation),
        tiles_per_ipu=arguments.tiles,
        emulated=arguments.emulated or None,
    )
    try:
        how = How(
            target,
            arguments.pass_pipeline,
            planner_named(arguments.planner) if arguments.planner else None,
            available_memory_proportion=arguments.available_memory_proportion,
            merge_collectives=arguments.merge_collectives,
            merge_remote_buffers=arguments.merge_remote_buffers,
            float_modes=arguments.float_modes,
            partials_type=arguments.partials_type,
            outline_layers=not arguments.no_outline_layers,
            kernels=arguments.kernels,
        )
        return compile_made(module, arguments.entry, how)
    except PipelineError as error:
        raise UsageError(str(error)) from error


def _summary(result: "np.ndarray") -> str:
    """Shape, type and range of a result in one line."""
    from ipu_mlir.specs.specs import spec_of

    if result.size == 0:
        return f"{spec_of(result)} empty"
    wide = result.astype("float64")
    return f"{spec_of(result)} min {wide.min():.6g} mean {wide.mean():.6g} max {wide.max():.6g}"


def _values(result: "np.ndarray", most: int) -> str:
    """The elements, as NumPy prints them; of a result of more than ``most`` those at both ends of each dimension."""
    import numpy as np

    return np.array2string(result, threshold=most, max_line_width=120, separator=", ")


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


if __name__ == "__main__":
    raise SystemExit(main())
