"""From superstep IR to NumPy source."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ipu_mlir.dialects.analysis.queues import queues_in
from ipu_mlir.dialects.analysis.remote import remote_buffers_in
from ipu_mlir.dialects.analysis.replicas import is_marked, replicas_of
from ipu_mlir.dialects.analysis.variables import unset_arguments, variable_arguments, variables_in
from ipu_mlir.dialects.ipu import HOST_CALLS
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.dialects.support.nesting import check_nesting
from ipu_mlir.runtime.translator.codegen.emit.plan_schedule import scheduled
from ipu_mlir.runtime.translator.codegen.source import SourceWriter
from ipu_mlir.runtime.translator.importing.read import Problem, find_function, read_program
from ipu_mlir.runtime.translator.importing.read_memref import initial_value
from ipu_mlir.runtime.translator.kernels.module import module_text
from ipu_mlir.runtime.translator.optimize.argument_numbers import with_gathered_numbers, with_late_numbers
from ipu_mlir.runtime.translator.optimize.forward_copies import with_known_values, without_copies
from ipu_mlir.runtime.translator.optimize.lookup_tables import with_lookup_tables
from ipu_mlir.runtime.translator.optimize.propagate_layouts import with_layouts
from ipu_mlir.runtime.translator.optimize.reductions.decompose import decomposed
from ipu_mlir.runtime.translator.optimize.reductions.split_rows import with_split_rows
from ipu_mlir.runtime.translator.optimize.rename_buffers import with_versions
from ipu_mlir.runtime.translator.optimize.results import with_fresh_results
from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.control import transfers_by
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Program
from ipu_mlir.runtime.translator.statements.types import dtype_of, narrow_float
from ipu_mlir.runtime.translator.translation import ArraySpec, RemoteSpec, Stream, Translation, Variable

T = TypeVar("T")


def translate(
    module: ir.Module | ir.Operation, entry: str = "main", options: TranslatorOptions | None = None
) -> Translation:
    """The NumPy source of function ``entry`` of ``module`` (supersteps, or linalg on memrefs).

    Raises:
        CompileError: the function is missing, nested too deeply, or uses ops that the runtime lacks; all are listed.
    """
    options = options or TranslatorOptions.of(None)
    translation = translate_statements(with_calls(read_statements(module, entry), options), options)
    variables = _declared(module.operation, entry, translation.variables)
    queues, remote = _streams(module.operation, translation.queues), _remote(module.operation, translation.remote)
    return replace(translation, variables=variables, queues=queues, remote=remote)


def with_calls(program: Program, options: TranslatorOptions) -> Program:
    """``program``, as it was imported, in statements that are calls; each of its functions by itself."""
    functions = tuple(with_calls(function, options) for function in program.functions)
    program = with_fresh_results(with_versions(replace(program, functions=functions)))
    program = decomposed(with_gathered_numbers(with_known_values(without_copies(program))), options)
    program = with_lookup_tables(with_layouts(program), options)
    return with_split_rows(with_late_numbers(program), options)


def translate_statements(program: Program, options: TranslatorOptions) -> Translation:
    """The NumPy source of statements whose calls are chosen (``with_calls``)."""
    schedules, single_blas_thread, kernels = scheduled(program, options)
    writer = SourceWriter.of(program, schedules)
    source = writer.write()
    names = writer.texts.arguments
    used = {who: transfers_by(program, who) for who in ("streams", "remote")}
    of_queues = dict.fromkeys(each.queue for each in used["streams"] if HOST_CALLS[each.codelet].symbol == "queue")
    queues = tuple(Stream(name, "", (), 0, "") for name in of_queues)
    of_rows = dict.fromkeys(each.queue for each in used["remote"])
    remote = tuple(RemoteSpec(name, (), np.dtype(np.uint8)) for name in of_rows)
    arguments = tuple(_spec(names[b], b.shape, b) for b in program.arguments if b.role is not Role.STATE)
    variables = tuple(
        Variable(names[b], b.shape, b.dtype if b.narrow is None else host_dtype(b.narrow), b.dtype)
        for b in program.arguments
        if b.role is Role.STATE
    )
    results = tuple(
        _spec(f"result{i}", shape, access.buffer)
        for i, (access, shape) in enumerate(zip(program.results, program.result_shapes, strict=True))
    )
    return Translation(
        source,
        arguments,
        results,
        writer.temporary_bytes,
        writer.texts.constants,
        single_blas_thread,
        variables,
        queues,
        remote,
        bool(used["streams"]),
        module_text(kernels),
        {kernel.name: kernel.declared for kernel in kernels} if options.checked else None,
    )


def read_statements(module: ir.Module | ir.Operation, entry: str = "main") -> Program:
    """The statements of function ``entry`` of ``module``, as they are read.

    Raises:
        CompileError: the function is missing, nested too deeply, or uses ops that the runtime lacks; all are listed.
    """
    check_nesting(module.operation)
    program, problems = read_program(module.operation, entry)
    if problems:
        raise CompileError(unsupported_message(problems))
    return program


def _spec(name: str, shape: tuple[int, ...], buffer: Buffer) -> ArraySpec:
    if buffer.narrow is None:
        return ArraySpec(name, shape, buffer.dtype)
    return ArraySpec(name, shape, host_dtype(buffer.narrow), buffer.dtype)


def _declared(module: ir.Operation, entry: str, variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
    """``variables``, which function ``entry`` takes, as the module declares them."""
    if not variables:
        return ()
    function, declared = find_function(module, entry), variables_in(module)
    unset, replicas = unset_arguments(function), replicas_of(module)
    found = []
    for (number, name), variable in zip(variable_arguments(function).items(), variables, strict=True):
        initial = initial_value(declared[name]) if name in declared else None
        own = replicas if name in declared and is_marked(declared[name].attributes) else 0
        found.append(replace(variable, name=name, initial=initial, is_read=number not in unset, replicas=own))
    return tuple(found)


def _streams(module: ir.Operation, used: tuple[Stream, ...]) -> tuple[Stream, ...]:
    """The queues that are ``used``, as the module declares them.

    Raises:
        CompileError: it does not.
    """
    declared = queues_in(module) if used else {}
    found = []
    for name in (each.name for each in used):
        queue = _as_declared(name, declared, "queue")
        takes, gives = (
            tuple(_host_spec(f"tensor {number} of {name!r}", kind) for number, kind in enumerate(kinds))
            for kinds in (queue.takes, queue.gives)
        )
        specs, more = (gives, ()) if queue.kind == "infeed" else (takes, gives)
        found.append(Stream(name, queue.kind, specs, queue.depth, queue.mode, replicas_of(module), more))
    return tuple(found)


def _remote(module: ir.Operation, used: tuple[RemoteSpec, ...]) -> tuple[RemoteSpec, ...]:
    """The remote buffers that are ``used``, as the module declares them.

    Raises:
        CompileError: it does not.
    """
    declared = remote_buffers_in(module) if used else {}
    found = []
    for name in (each.name for each in used):
        buffer = _as_declared(name, declared, "remote buffer")
        op, spec = buffer.op, _host_spec(f"remote buffer {name!r}", buffer.type)
        replicas = replicas_of(module) if is_marked(op.attributes) else 0
        names = buffer.variables or (name,)
        whole = ir.RankedTensorType(ir.TypeAttr(op.attributes["whole"]).value).shape if "whole" in op.attributes else ()
        if len(names) > 1:
            found.append(RemoteSpec(name, spec.shape, spec.dtype, replicas=replicas, variables=names))
        for row, each in enumerate(names):
            shape, of = ((1, *shape[1:]) if len(names) > 1 else tuple(shape) for shape in (spec.shape, whole))
            shape = (replicas, *shape) if replicas else shape
            made = RemoteSpec(each, shape, spec.dtype, initial_value(op, row), bool(buffer.variables), replicas)
            found.append(replace(made, whole=of, partition=buffer.partition) if whole else made)
    return tuple(found)


def _as_declared(name: str, declared: Mapping[str, T], what: str) -> T:
    if name not in declared:
        raise CompileError(f"the program uses {what} @{name}, but the module has {', '.join(declared) or 'none'}")
    return declared[name]


def _host_spec(name: str, kind: ir.Type) -> ArraySpec:
    narrow, dtype = narrow_float(kind), dtype_of(kind.element_type)
    if dtype is None:
        raise CompileError(f"{name} has elements of type {kind.element_type}, which are not supported")
    return ArraySpec(name, tuple(kind.shape), dtype if narrow is None else host_dtype(narrow))


def unsupported_message(problems: list[Problem]) -> str:
    """All ``problems`` in one message."""
    listed = "\n  ".join(map(str, problems))
    return f"the fast runtime cannot run {counted(len(problems), 'op')} of this program:\n  {listed}"
