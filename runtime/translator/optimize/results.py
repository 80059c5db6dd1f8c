"""The buffers that are given back, and copies for what cannot be given back as it is."""

from dataclasses import replace
from math import prod

from ipu_mlir.runtime.numeric.narrow_floats import bits_dtype, bits_of
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, is_contiguous, row_major
from ipu_mlir.runtime.translator.statements.expression import Apply, Expression, Read
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Origin, Program


def with_fresh_results(program: Program) -> Program:
    """Give every result a temporary buffer of its own, whole and in order.

    Arguments, constants, slices, and buffers that are returned twice are copied. Floats of 16 and 8 bits are given back
    as their bits, but by functions that the program calls.
    """
    claimed: set[Buffer] = set()
    results: list[Access] = []
    statements = list(program.statements)
    for index, (access, shape) in enumerate(zip(program.results, program.result_shapes, strict=True)):
        buffer = access.buffer
        is_narrow = buffer.narrow is not None and not program.is_called
        whole = access.offset == 0 and buffer.elements == prod(shape) and is_contiguous(shape, access.strides)
        if buffer.role is not Role.TEMPORARY or not whole or buffer in claimed or is_narrow:
            value = _bits(access) if is_narrow else Read(buffer.dtype, access)
            fresh = Buffer(f"result{index}", prod(shape), value.dtype, Role.TEMPORARY, shape, narrow=buffer.narrow)
            copy = Access(fresh, 0, row_major(shape))
            if 0 not in shape:
                statements.append(Elementwise(shape, Origin("func.return", ""), (copy,), (value,)))
            access = copy
        claimed.add(access.buffer)
        results.append(access)
    return replace(program, statements=tuple(statements), results=tuple(results))


def _bits(access: Access) -> Expression:
    narrow = str(access.buffer.narrow)
    return Apply(bits_dtype(narrow), bits_of(narrow), (Read(access.buffer.dtype, access),))
