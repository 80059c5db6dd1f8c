"""The scalar body of a structured op: straight-line scalar ops, loads, branches and assertions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.read_affine import affine_apply
from ipu_mlir.runtime.translator.importing.read_body import Unsupported, read_scalar_op
from ipu_mlir.runtime.translator.importing.read_load import loaded
from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.importing.walk import children
from ipu_mlir.runtime.translator.statements.expression import Apply, Expression, Read
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.transform import standing

BOOL = np.dtype(np.bool_)


class BodyValues(dict[ir.Value, Expression]):
    """The scalars of a body; those of the function around it are the same at every point."""

    def __init__(self, outside: Mapping[ir.Value, Expression], rank: int) -> None:
        super().__init__()
        self._outside, self._rank = outside, rank

    def __missing__(self, value: ir.Value) -> Expression:
        if value not in self._outside:
            raise Unsupported("a value of another function or region is used")
        self[value] = standing(self._outside[value], self._rank)
        return self[value]


@dataclass
class RegionReader:
    """Reads the ops of one body; ``index`` has the value of each loop's index, ``ranges`` what is known of integers."""

    values: BodyValues
    views: Mapping[ir.Value, BufferView]
    index: list[Read]
    ranges: Ranges
    checks: list[tuple[Expression, str]] = field(default_factory=list)

    def yielded(self, ops: list[ir.Operation], guard: Expression | None = None) -> tuple[Expression, ...]:
        """The values that ``ops`` yield. ``guard`` tells where they run at all."""
        for op in ops:
            if op.name in ("linalg.yield", "scf.yield"):
                return tuple(self.values[operand] for operand in op.operands)
            try:
                self._read(op, guard)
            except Unsupported as error:
                raise Unsupported(f"'{op.name}' in its body: {error}") from error
        raise Unsupported("its body does not yield")

    def _read(self, op: ir.Operation, guard: Expression | None) -> None:
        match op.name:
            case "linalg.index":
                self.values[op.results[0]] = self.index[ir.IntegerAttr(op.attributes["dim"]).value]
            case "memref.load":
                self.values[op.results[0]] = self._load(op)
            case "affine.apply":
                values = [self.values[operand] for operand in op.operands]
                self.values[op.results[0]] = affine_apply(ir.AffineMapAttr(op.attributes["map"]).value, values)
            case "scf.if":
                self._branch(op, guard)
            case "cf.assert":
                holds = self.values[op.operands[0]]
                if guard is not None:
                    holds = Apply(BOOL, "logical_or", (Apply(BOOL, "logical_not", (guard,)), holds))
                self.checks.append((holds, ir.StringAttr(op.attributes["msg"]).value))
            case _ if len(op.results) != 1:
                raise Unsupported("no NumPy call is known for it")
            case _:
                self.values[op.results[0]] = self.ranges.decided(read_scalar_op(op, self.values))

    def _branch(self, op: ir.Operation, guard: Expression | None) -> None:
        """Both branches are computed everywhere; the condition chooses."""
        condition = self.values[op.operands[0]]
        ops = children(op)
        split = 1 + next(i for i, inner in enumerate(ops) if inner.name == "scf.yield")
        inverse = Apply(BOOL, "logical_not", (condition,))
        guards = [c if guard is None else Apply(BOOL, "logical_and", (guard, c)) for c in (condition, inverse)]
        yes = self.yielded(ops[:split], guards[0])
        if not op.results:
            return
        no = self.yielded(ops[split:], guards[1])
        for result, a, b in zip(op.results, yes, no, strict=True):
            self.values[result] = Apply(a.dtype, "select_bool" if a.dtype == BOOL else "select", (condition, a, b))

    def _load(self, op: ir.Operation) -> Expression:
        """A read where all indices are loops or constants, else a gather."""
        view = self.views.get(op.operands[0])
        if view is None:
            raise Unsupported("it reads no buffer of this function")
        indices = [self.values[value] for value in list(op.operands)[1:]]
        return loaded(view, indices, self.ranges)
