"""From superstep IR to NumPy source."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.nesting import check_nesting
from ipu_mlir.runtime.numeric.narrow_floats import array_dtype
from ipu_mlir.runtime.translator.array_ir.access import Buffer
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.array_ir.statements import Program
from ipu_mlir.runtime.translator.codegen.emit.plan_schedule import scheduled
from ipu_mlir.runtime.translator.codegen.source import SourceWriter
from ipu_mlir.runtime.translator.codegen.vocabulary import code_of, namespace
from ipu_mlir.runtime.translator.importing.read import Problem, read_program
from ipu_mlir.runtime.translator.passes import optimized


@dataclass(frozen=True)
class ArraySpec:
    """What an argument or a result is."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    bits: np.dtype[Any] | None = None
    """The integers that the program reads and writes in place of floats of 16 or 8 bits; None for any other type."""

    def __str__(self) -> str:
        return f"{'x'.join(map(str, (*self.shape, '')))}{self.dtype}"


@dataclass(frozen=True)
class Translation:
    """NumPy source, and what its ``build`` function needs."""

    source: str
    arguments: tuple[ArraySpec, ...]
    results: tuple[ArraySpec, ...]
    temporary_bytes: int
    constants: dict[str, np.ndarray] = field(repr=False)
    single_blas_thread: bool = False
    """True if the source shares its work between threads itself; BLAS must then not start more."""

    def compiled(self) -> Callable[[Any], Callable[..., None]]:
        """The ``build`` function of the source: memory -> main(*arguments, *results).

        Raises:
            CompileError: the source does what no emitter writes.
        """
        names = namespace()
        exec(code_of(self.source), names)
        return names["build"]


def translate(
    module: ir.Module | ir.Operation, entry: str = "main", options: TranslatorOptions | None = None
) -> Translation:
    """The NumPy source of function ``entry`` of ``module`` (supersteps, or linalg on memrefs).

    Raises:
        CompileError: the function is missing, nested too deeply, or uses ops that the runtime lacks; all are listed.
    """
    options = options or TranslatorOptions()
    return translate_arrays(optimized(array_program(module, entry), options), options)


def translate_arrays(program: Program, options: TranslatorOptions) -> Translation:
    """The NumPy source of an array program that all passes have run on."""
    schedule, has_blocks = scheduled(program, options)
    writer = SourceWriter(program, schedule.places, schedule.steps)
    source = writer.write()
    arguments = tuple(_spec(writer.texts.arguments[b], b.shape, b) for b in program.arguments)
    results = tuple(
        _spec(f"result{i}", shape, access.buffer)
        for i, (access, shape) in enumerate(zip(program.results, program.result_shapes, strict=True))
    )
    return Translation(source, arguments, results, writer.plan.total_bytes, writer.texts.constants, has_blocks)


def array_program(module: ir.Module | ir.Operation, entry: str = "main") -> Program:
    """Function ``entry`` of ``module`` as an array program, as it was imported.

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
    return ArraySpec(name, shape, array_dtype(buffer.narrow), buffer.dtype)


def unsupported_message(problems: list[Problem]) -> str:
    """All ``problems`` in one message."""
    listed = "\n  ".join(map(str, problems))
    return f"the fast runtime cannot run {counted(len(problems), 'op')} of this program:\n  {listed}"
