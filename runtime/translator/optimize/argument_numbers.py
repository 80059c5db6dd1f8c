"""Arguments in floats of 16 or 8 bits come as bits; when and where they become numbers in f32."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ipu_mlir.runtime.numeric.narrow_floats import of_bits
from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.control import all_statements, in_blocks, read_by
from ipu_mlir.runtime.translator.statements.expression import Apply, Expression, Gather, Read, postorder
from ipu_mlir.runtime.translator.statements.statements import Check, Elementwise, Fold, Program, Scan, Statement
from ipu_mlir.runtime.translator.statements.transform import with_rewritten_values


def with_gathered_numbers(program: Program) -> Program:
    """Leave arguments that only gathers read as bits, and convert what is gathered."""
    tables = {table: bits for statement in program.statements for table, bits in numbers_of(statement)}
    for statement in all_statements(program.statements) if tables else ():
        for buffer in _read_otherwise(statement):
            tables.pop(buffer, None)
    if not tables:
        return program

    def gathered(node: Expression) -> Expression:
        if not isinstance(node, Gather) or node.access.buffer not in tables:
            return node
        bits = tables[node.access.buffer]
        elements = replace(node, dtype=bits.dtype, access=replace(node.access, buffer=bits))
        return Apply(node.dtype, of_bits(str(bits.narrow)), (elements,))

    def block(statements: Sequence[Statement]) -> list[Statement]:
        return [
            with_rewritten_values(in_blocks(statement, block), gathered)
            for statement in statements
            if not any(access.buffer in tables for access in statement.dests())
        ]

    return program.with_statements(block(program.statements))


def with_late_numbers(program: Program) -> Program:
    """Convert narrow arguments just before they are read first, small ones before large ones.

    There they can share a loop over blocks with what reads them. What nobody reads is not made.
    """
    waiting = {table: s for s in program.statements if isinstance(s, Elementwise) for table, _ in numbers_of(s)}
    statements: list[Statement] = []
    for statement in program.statements:
        if numbers_of(statement):
            continue
        read = {access.buffer for access in statement.sources()}
        needed = [buffer for buffer in waiting if buffer in read]  # in the order of the arguments
        statements += [waiting.pop(buffer) for buffer in sorted(needed, key=lambda buffer: buffer.elements)]
        statements.append(statement)
    return program.with_statements(statements)


def numbers_of(statement: Statement) -> list[tuple[Buffer, Buffer]]:
    """(numbers, bits) if ``statement`` makes numbers of a whole argument."""
    if not isinstance(statement, Elementwise) or len(statement.values) != 1:
        return []
    (value,), (out,) = statement.values, statement.outputs
    if not isinstance(value, Apply) or not isinstance(value.args[0], Read):
        return []
    bits = value.args[0].access.buffer
    made = bits.role is Role.ARGUMENT and bits.narrow is not None and value.call == of_bits(bits.narrow)
    return [(out.buffer, bits)] if made and not out.buffer.mutable else []


def _read_otherwise(statement: Statement) -> Iterable[Buffer]:
    """The buffers that ``statement`` reads, but not by gathers; without those that blocks inside read."""
    if not isinstance(statement, Elementwise | Fold | Scan | Check):
        return [access.buffer for access in read_by(statement)]
    return [node.access.buffer for node in postorder(statement.expressions()) if isinstance(node, Read)]
