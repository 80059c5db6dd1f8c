"""``ipu-opt``: run passes over MLIR.

MLIR is imported only once there is something to do with it, so that ``--help`` answers at once.
"""

import argparse
import io
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ipu_mlir.tools.command_line import FAILED, UsageError, in_flags, run_tool, write_output
from ipu_mlir.tools.opt_arguments import parse_arguments, unknown_flag

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.bindings import ir
    from ipu_mlir.dialects.support.diagnostics import Diagnostic
    from ipu_mlir.dialects.support.parsing import Source
    from ipu_mlir.passes.core.manager import Observer, PassTime
    from ipu_mlir.passes.core.pipeline_steps import Registry, Step

_SEPARATOR = b"// -----\n"
_FLAGS = {"tiles_per_ipu": "--ipu-set-target=tiles={}"}
"""Settings of Python, as they are given to passes."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-opt", _ipu_opt, argv, _FLAGS)


def _ipu_opt(argv: Sequence[str]) -> int:
    arguments = parse_arguments(argv)
    registry = _registry(arguments.load)
    if arguments.list_passes:
        from ipu_mlir.tools.list_passes import passes_text

        write_output(arguments.output, passes_text(registry))
        return 0
    from ipu_mlir.tools.diagnostics_output import print_diagnostics
    from ipu_mlir.tools.reproducer import check_inside, check_plugins, pipeline_of, plugins_of, read_reproducer

    if arguments.show_dialects:
        from ipu_mlir.dialects.ipu import dialect_names

        write_output(arguments.output, f"Available Dialects: {','.join(dialect_names())}\n")
        return 0
    parts = _input_parts(arguments)
    if arguments.run_reproducer:
        plugins = plugins_of(parts[0])
        if arguments.trust_reproducer:
            arguments.load = list(dict.fromkeys([*arguments.load, *plugins]))
            registry = _registry(arguments.load)
        parts[0], arguments.pass_pipeline = read_reproducer(parts[0])
        check_plugins(plugins, arguments.load, parts[0].name)
    steps = _steps(arguments, registry)
    if arguments.run_reproducer and not arguments.trust_reproducer:
        check_inside(steps, parts[0].name)
    if arguments.dump_pass_pipeline:
        print(pipeline_of(steps), file=sys.stderr)
    reports = _Reports()
    outputs: list[bytes | None] = []
    failed = False
    for part in parts:
        output, reported = _process(part, steps, arguments, reports)
        if arguments.verify_diagnostics:
            reported = _unmet_expectations(part, reported)
        print_diagnostics(reported)
        failed |= any(diagnostic.severity == "error" for diagnostic in reported)
        outputs.append(output)
    print(reports.text(arguments), file=sys.stderr, end="")
    if not failed:
        write_output(arguments.output, _SEPARATOR.join(output for output in outputs if output is not None))
    elif arguments.output == "-" and any(outputs):  # the parts that are right; a file would be taken for the whole
        write_output("-", _SEPARATOR.join(output or b"" for output in outputs))
    return FAILED if failed else 0


class _Reports:
    """Reports about the passes of all parts. No dataclass: with those comes all that looks into Python's code."""

    def __init__(self) -> None:
        self.times: list[PassTime] = []
        self.ops: list[tuple[str, int, int]] = []

    def text(self, arguments: argparse.Namespace) -> str:
        """The reports that the command line asks for."""
        from ipu_mlir.passes.core.instruments import statistics_report, timing_report

        statistics = statistics_report(self.ops) if arguments.mlir_pass_statistics else ""
        return statistics + (timing_report(self.times) if arguments.mlir_timing else "")


def _registry(files: Sequence[str]) -> "Registry":
    """Our passes and pipelines, and those of plugins; their dialects and codelets become known as well."""
    from ipu_mlir.compilation.kernels import Kernels
    from ipu_mlir.passes import PASSES
    from ipu_mlir.passes.core.pipeline_steps import Registry
    from ipu_mlir.passes.pipelines import PIPELINES
    from ipu_mlir.passes.plugins import load_installed, load_plugin, loaded_passes

    loaded = loaded_passes([*load_installed(), *map(load_plugin, files)])
    return Registry(PASSES.with_others([Kernels, *loaded]), PIPELINES)


def _steps(arguments: argparse.Namespace, registry: "Registry") -> "tuple[Step, ...]":
    """The passes that the command line asks for; a flag for a pass on functions runs on all functions."""
    from ipu_mlir.passes.core.pipeline_steps import UnknownPass, WrongAnchor, leaves
    from ipu_mlir.passes.core.pipeline_text import Nest, PassText, PipelineError

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
            except UnknownPass as error:
                raise UsageError(unknown_flag(name, registry)) from error
    except PipelineError as error:
        raise UsageError(str(error)) from error
    names = {step.name for step in leaves(steps)}
    for wanted in (*arguments.mlir_print_ir_before, *arguments.mlir_print_ir_after):
        if wanted not in names:
            raise UsageError(f"cannot print the IR around '{wanted}': the pipeline does not run it")
    return tuple(steps)


def _input_parts(arguments: argparse.Namespace) -> "list[Source]":
    from ipu_mlir.dialects.support.parsing import split_input
    from ipu_mlir.tools.program_files import read_program

    source = read_program(arguments.file)
    parts = split_input(source) if arguments.split_input_file else [source]
    if arguments.emit_bytecode and len(parts) > 1:
        raise UsageError(f"--emit-bytecode writes one module, but the input has {len(parts)} parts")
    return parts


def _process(
    part: "Source", steps: "Sequence[Step]", arguments: argparse.Namespace, reports: _Reports
) -> "tuple[bytes | None, list[Diagnostic]]":
    """The text of one module after the passes, None if it is wrong, and everything that was reported on the way."""
    from ipu_mlir.dialects import ipu
    from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, collect
    from ipu_mlir.dialects.support.errors import IpuError
    from ipu_mlir.dialects.support.parsing import parse_module
    from ipu_mlir.passes.core.manager import PassTime, run_steps
    from ipu_mlir.tools.reproducer import reproducer

    context = ipu.context()
    context.allow_unregistered_dialects = arguments.allow_unregistered_dialect
    if arguments.mlir_disable_threading:
        context.enable_multithreading(False)
    output = None
    with collect(context, frozenset({"error", "warning", "remark"})) as reported:
        try:
            started = time.perf_counter()
            module = parse_module(part, context)
            reports.times.append(PassTime("parse", time.perf_counter() - started))
            if arguments.verify_roundtrip:
                from ipu_mlir.tools.round_trip import check_round_trip

                check_round_trip(module, part.name)
            verify = arguments.verify_each
            with reproducer(arguments.reproducer, module, steps, verify, arguments.load):
                reports.times += run_steps(module, steps, verify=verify, observers=_observers(arguments, reports))
            started = time.perf_counter()
            output = _output(module, arguments)
            reports.times.append(PassTime("print", time.perf_counter() - started))
        except DiagnosedError as error:
            reported += in_flags(error, _FLAGS)
        except IpuError as error:
            reported.append(Diagnostic(str(error), part.name))
    return output, reported


def _observers(arguments: argparse.Namespace, reports: _Reports) -> "list[Observer]":
    from ipu_mlir.passes.core.instruments import IrPrinter, OpCounter, PassLog

    observers: list[Observer] = [OpCounter(reports.ops)] if arguments.mlir_pass_statistics else []
    if arguments.debug:
        observers.append(PassLog(sys.stderr.write))
    before = None if arguments.mlir_print_ir_before_all else arguments.mlir_print_ir_before
    changed = arguments.mlir_print_ir_after_change
    every = arguments.mlir_print_ir_after_all or (changed and not arguments.mlir_print_ir_after)
    after = None if every else arguments.mlir_print_ir_after
    failed = arguments.mlir_print_ir_after_failure
    if failed or (before, after) != ((), ()):
        whole = arguments.mlir_print_ir_module_scope
        observers.append(IrPrinter(sys.stderr.write, before, after, changed, failed, whole, _printing(arguments)))
    return observers


def _printing(arguments: argparse.Namespace) -> "dict[str, Any]":
    """The way in which the IR is printed, at the end and around passes."""
    return {
        "locations": arguments.mlir_print_debuginfo,
        "generic": arguments.mlir_print_op_generic,
        "large_elements_limit": arguments.elide,
        "large_resource_limit": arguments.elide_resources,
        "local_scope": arguments.mlir_print_local_scope,
        "names_of_locations": arguments.mlir_use_nameloc_as_prefix,
    }


def _output(module: "ir.Module", arguments: argparse.Namespace) -> bytes:
    from ipu_mlir.dialects.support.printing import to_text

    if arguments.emit_bytecode:
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()
    return to_text(module, verified=arguments.verify_each, **_printing(arguments)).encode()


def _unmet_expectations(part: "Source", reported: "list[Diagnostic]") -> "list[Diagnostic]":
    from ipu_mlir.tools.expected_diagnostics import read_expectations, unmet

    if isinstance(part.content, bytes):
        return reported
    return unmet(read_expectations(part.content, part.line_offset), reported, part.name)


if __name__ == "__main__":
    sys.exit(main())
