"""``ipu-opt``: run passes over MLIR.

MLIR is imported only once there is something to do with it, so that ``--help`` answers at once.
"""

import argparse
import io
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ipu_mlir.tools.command_line import FAILED, UsageError, run_tool, write_output
from ipu_mlir.tools.opt_arguments import parse_arguments

if TYPE_CHECKING:
    from ipu_mlir.dialects.bindings import ir
    from ipu_mlir.dialects.diagnostics import Diagnostic
    from ipu_mlir.dialects.parsing import Source
    from ipu_mlir.passes.manager import Observer, PassTime
    from ipu_mlir.passes.steps import Registry, Step

_SEPARATOR = b"// -----\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-opt", _ipu_opt, argv)


def _ipu_opt(argv: Sequence[str]) -> int:
    arguments = parse_arguments(argv)
    registry = _registry(arguments.load_pass)
    if arguments.list_passes:
        from ipu_mlir.tools.list_passes import passes_text

        write_output(arguments.output, passes_text(registry))
        return 0
    steps = _steps(arguments, registry)
    times: list[PassTime] = []
    outputs: list[bytes] = []
    failed = False
    for part in _input_parts(arguments):
        output, reported = _process(part, steps, arguments, times)
        if arguments.verify_diagnostics:
            reported = _unmet_expectations(part, reported)
        for diagnostic in reported:
            print(diagnostic, file=sys.stderr)
        failed |= any(diagnostic.severity == "error" for diagnostic in reported)
        if output is not None:
            outputs.append(output)
    if arguments.mlir_timing:
        from ipu_mlir.passes.instruments import timing_report

        print(timing_report(times), file=sys.stderr, end="")
    if failed:
        return FAILED
    write_output(arguments.output, _SEPARATOR.join(outputs))
    return 0


def _registry(files: Sequence[str]) -> "Registry":
    """Our passes and pipelines, and the passes of the user's files."""
    from ipu_mlir.passes import PASSES
    from ipu_mlir.passes.names import by_name
    from ipu_mlir.passes.pipelines import PIPELINES
    from ipu_mlir.passes.plugins import load_passes
    from ipu_mlir.passes.steps import Registry

    loaded = [pass_class for file in files for pass_class in load_passes(file)]
    return Registry(by_name([*PASSES, *loaded]), PIPELINES)


def _steps(arguments: argparse.Namespace, registry: "Registry") -> "tuple[Step, ...]":
    """The passes that the command line asks for; a flag for a pass on functions runs on all functions."""
    from ipu_mlir.passes.pipeline_text import Nest, PassText, PipelineError
    from ipu_mlir.passes.steps import WrongAnchor, leaves

    steps: list[Step] = []
    try:
        if arguments.pass_pipeline is not None:
            steps += registry.resolve(arguments.pass_pipeline)
        for name, options in arguments.flags:
            element = PassText(name, options)
            try:
                steps += registry.resolve([element])
            except WrongAnchor as error:
                steps += registry.resolve([Nest(error.anchor, (element,))])
    except PipelineError as error:
        raise UsageError(str(error)) from error
    names = {step.name for step in leaves(steps)}
    for wanted in (*arguments.mlir_print_ir_before, *arguments.mlir_print_ir_after):
        if wanted not in names:
            raise UsageError(f"cannot print the IR around '{wanted}': the pipeline does not run it")
    return tuple(steps)


def _input_parts(arguments: argparse.Namespace) -> "list[Source]":
    from ipu_mlir.dialects.parsing import read_source, source_of_bytes, split_input

    if arguments.file == "-":
        source = source_of_bytes(sys.stdin.buffer.read(), "<stdin>")
    else:
        source = read_source(arguments.file)
    parts = split_input(source) if arguments.split_input_file else [source]
    if arguments.emit_bytecode and len(parts) > 1:
        raise UsageError(f"--emit-bytecode writes one module, but the input has {len(parts)} parts")
    return parts


def _process(
    part: "Source", steps: "Sequence[Step]", arguments: argparse.Namespace, times: "list[PassTime]"
) -> "tuple[bytes | None, list[Diagnostic]]":
    """What comes out of one module, None if it is wrong, and everything that was reported on the way."""
    from ipu_mlir.dialects import ipu
    from ipu_mlir.dialects.diagnostics import DiagnosedError, Diagnostic, collect
    from ipu_mlir.dialects.errors import IpuError
    from ipu_mlir.dialects.parsing import parse_module
    from ipu_mlir.passes.manager import PassTime, run_steps

    context = ipu.context()
    context.allow_unregistered_dialects = arguments.allow_unregistered_dialect
    output = None
    with collect(context, frozenset({"error", "warning", "remark"})) as reported:
        try:
            started = time.perf_counter()
            module = parse_module(part, context)
            times.append(PassTime("parse", time.perf_counter() - started))
            times += run_steps(module, steps, verify=arguments.verify_each, observers=_observers(arguments))
            started = time.perf_counter()
            output = _output(module, arguments)
            times.append(PassTime("print", time.perf_counter() - started))
        except DiagnosedError as error:
            reported += error.diagnostics
        except IpuError as error:
            reported.append(Diagnostic(str(error), part.name))
    return output, reported


def _observers(arguments: argparse.Namespace) -> "list[Observer]":
    before = None if arguments.mlir_print_ir_before_all else arguments.mlir_print_ir_before
    after = None if arguments.mlir_print_ir_after_all else arguments.mlir_print_ir_after
    if before == after == ():
        return []
    from ipu_mlir.passes.instruments import IrPrinter

    return [IrPrinter(sys.stderr.write, before, after, arguments.elide)]


def _output(module: "ir.Module", arguments: argparse.Namespace) -> bytes:
    from ipu_mlir.dialects.printing import to_text

    if arguments.emit_bytecode:
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()
    text = to_text(
        module,
        locations=arguments.mlir_print_debuginfo,
        generic=arguments.mlir_print_op_generic,
        large_elements_limit=arguments.elide,
        verified=arguments.verify_each,
    )
    return text.encode()


def _unmet_expectations(part: "Source", reported: "list[Diagnostic]") -> "list[Diagnostic]":
    from ipu_mlir.tools.expected_diagnostics import read_expectations, unmet

    if isinstance(part.content, bytes):
        return reported
    return unmet(read_expectations(part.content, part.line_offset), reported, part.name)
