"""What verifiers and the per-tile executor make of a program with one mistake in it."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from support.compare import disagreements
from support.tied_values import tied
from support.unverified import parse_unverified

from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.ipu import ExchangeOp, VerticesOp
from ipu_mlir.dialects.ops.vertices import accesses
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import PassStep
from ipu_mlir.passes.supersteps.checks.check_supersteps import CheckSupersteps
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor


@dataclass(frozen=True)
class Subject:
    """A program of supersteps that is right, with its inputs and results.

    Attributes:
        atol: per result how far it may be off.
        ill_conditioned: results that are compared loosely.
    """

    supersteps: str
    inputs: list[np.ndarray]
    expected: list[np.ndarray]
    atol: tuple[float, ...]
    ill_conditioned: Collection[int] = field(default=())

    def disagreements(self, results: list[np.ndarray]) -> list[str]:
        return disagreements(results, self.expected, self.atol, self.ill_conditioned)

    def line(self, description: str) -> str:
        """The line of the program that the description of a mutant names."""
        return self.supersteps.splitlines()[_line_number(description) - 1].strip()


def refusal(text: str) -> str | None:
    """What the verifiers and the check of whole programs say about a module; None if they have nothing against it."""
    with dialect.context() as context:
        try:
            module = parse_module(text, context)
            run_steps(module, [PassStep(CheckSupersteps())])
        except CompileError as error:
            return str(error)
    return None


def run_unverified(text: str, inputs: list[np.ndarray], strict: bool) -> list[np.ndarray] | None:
    """What the per-tile executor makes of a module that no verifier has seen; None if it refuses."""
    with dialect.context():
        try:
            return PerTileExecutor(parse_unverified(text), strict=strict).run(inputs)
        except RunError:
            return None


def is_noticed(results: list[np.ndarray], subject: Subject, description: str) -> bool:
    """Whether results show that something is wrong: by poison, but for four cases.

    No integer and no boolean is poison for sure: where an exchange of these is lost, floats that are computed from
    them are wrong, and need not be NaN. A boolean that nobody wrote is true: where it should be, nothing shows. An
    exchange that overwrites leaves what was there before. And where poison is compared, or decides which way
    control flow takes, the numbers that come of it are wrong without being poison.
    """
    if _shows_poison(results, subject.expected):
        return True
    line = subject.line(description)
    loses_integers = line.startswith('"ipu.exchange"') and not re.search(r"[<x]f\d+, ", line)
    if line.startswith('"ipu.exchange"') and re.search(r"[<x]i1, ", line):
        return True
    steers = any(op in subject.supersteps for op in ("ipu.read_control", "arith.cmpf"))
    return (steers or loses_integers or overwrites(subject, description)) and bool(subject.disagreements(results))


def overwrites(subject: Subject, description: str) -> bool:
    """Whether the exchange that a mutant has lost fills a buffer that something else writes, too.

    Then a read finds what was there before: the program without the exchange is legal, and another program.
    """
    with dialect.context() as context:
        module = parse_module(subject.supersteps, context).operation
        lost = _exchange_at(module, _line_number(description))
        if lost is None:
            return False
        names = tied(lost.operands[1])
        return any(value in names for op, value in _writes(module) if op != lost)


def _shows_poison(results: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Whether a float result has NaN where there should be none; integers, which have no NaN, differ instead."""
    for got, want in zip(results, expected, strict=True):
        if want.dtype.kind == "f" and (np.isnan(got) & ~np.isnan(want)).any():
            return True
        if want.dtype.kind != "f" and not np.array_equal(got, want):
            return True
    return False


def _line_number(description: str) -> int:
    number = re.search(r":(\d+):\d+\)", description)
    assert number is not None, description
    return int(number[1])


def _exchange_at(module: ir.Operation, line: int) -> ir.Operation | None:
    return next((op for op in list_ops(module, "ipu.exchange") if op.location.start_line == line), None)


def _writes(module: ir.Operation) -> list[tuple[ir.Operation, ir.Value]]:
    """Every op that writes, with the buffer."""
    found = []
    for op in list_ops(module, "ipu.exchange", "ipu.vertices"):
        if isinstance(op.opview, ExchangeOp):
            found.append((op, op.operands[1]))
        elif isinstance(op.opview, VerticesOp):
            found += [(op, value) for value, is_written in accesses(op.opview) if is_written]
    return found
