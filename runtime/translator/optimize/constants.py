"""Statements whose operands are all known are done while the program is translated."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Control
from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Read, postorder
from ipu_mlir.runtime.translator.array_ir.statements import Check, Elementwise, Program, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_accesses
from ipu_mlir.runtime.translator.optimize.simplify import call_by_name

_MOST_ELEMENTS = 65536  # of a result: larger ones would cost more to keep than to make


def with_constants(program: Program) -> Program:
    """Compute what depends on constants alone."""
    known: dict[Buffer, Buffer] = {}
    results = {access.buffer for access in program.results}

    def now(access: Access) -> Access:
        return replace(access, buffer=known.get(access.buffer, access.buffer))

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        for old in statements:
            if isinstance(old, Control):
                found.append(old.changed(block, now))
                continue
            statement = with_accesses(old, now, lambda dest: dest)
            if isinstance(statement, Elementwise) and _is_known(statement, results):
                buffer = statement.outputs[0].buffer
                known[buffer] = _computed(statement)
            elif not (isinstance(statement, Check) and _always_holds(statement)):
                found.append(statement)
        return found

    return program.with_statements(block(program.statements))


def _is_known(statement: Elementwise, results: set[Buffer]) -> bool:
    if len(statement.outputs) != 1 or prod(statement.extents) > _MOST_ELEMENTS:
        return False
    buffer = statement.outputs[0].buffer
    if buffer.mutable or buffer.role is not Role.TEMPORARY or buffer in results or not buffer.elements:
        return False
    return _depends_on_constants(statement.values)


def _depends_on_constants(values: Sequence[Expression]) -> bool:
    return all(
        node.access.buffer.value is not None if isinstance(node, Read) else isinstance(node, Apply | Const)
        for node in postorder(values)
    )


def _always_holds(check: Check) -> bool:
    """True if an assertion can be seen to hold."""
    if prod(check.extents) > _MOST_ELEMENTS or not _depends_on_constants(check.values):
        return False
    return bool(_values(check.values[0], check.extents).all())


def _computed(statement: Elementwise) -> Buffer:
    """The constant buffer that holds what ``statement`` writes."""
    (out,), (value,) = statement.outputs, statement.values
    buffer = out.buffer
    flat = np.empty(buffer.elements, value.dtype)
    _window(flat, out, statement.extents)[...] = _values(value, statement.extents)
    name = f"{buffer.name}_known"
    return Buffer(name, buffer.elements, buffer.dtype, Role.CONSTANT, buffer.shape, flat.view(buffer.dtype))


def _values(root: Expression, extents: tuple[int, ...]) -> np.ndarray:
    """The value of ``root`` at every point of the loops, as an array that broadcasts over them."""
    arrays: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for node in postorder([root]):
            arrays[id(node)] = _array(node, extents, arrays)
    return arrays[id(root)]


def _array(node: Expression, extents: tuple[int, ...], arrays: dict[int, np.ndarray]) -> np.ndarray:
    match node:
        case Const():
            return np.full(extents or (1,), node.value)
        case Read():
            assert node.access.buffer.value is not None, "only constants are read"
            whole = _window(node.access.buffer.value.view(node.dtype), node.access, extents)
            return np.array(whole, ndmin=1)
        case Apply():
            return call_by_name(node.call, [arrays[id(arg)] for arg in node.args], node.dtype)
    raise AssertionError(f"{node!r} is no constant")


def _window(flat: np.ndarray, access: Access, extents: tuple[int, ...]) -> np.ndarray:
    steps = tuple(stride * flat.itemsize for stride in access.strides)
    return np.ndarray(extents, flat.dtype, flat, access.offset * flat.itemsize, steps)
