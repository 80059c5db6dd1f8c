"""Calls of library codelets on stacks of traced matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.specs.tensor_types import element_type, part_dtype, whole_dtype
from ipu_mlir.tracing.operands import trace_of
from ipu_mlir.tracing.pairs import is_complex


def apply_codelet(
    label: str, name: str, *operands: Any, types: Sequence[np.dtype[Any]] | None = None, **sizes: int
) -> tuple[Any, ...]:
    """The results of codelet ``name`` for ``operands``, stacks of one shape.

    Where they are complex, ``name_complex`` is called, if there is such a codelet. Matrices without elements hold no
    values that anything could depend on: what they give is a constant.

    Args:
        label: what the op is called in its location.
        types: of the elements of results; if not given, operands are of one type of floats, and they are, too.
        sizes: those of letters of the codelet's signature that its inputs do not say; ``k`` and ``h`` are known.
    """
    from ipu_mlir.passes.support.codelet_calls import call_codelet  # with all passes: few functions need it

    trace = trace_of(operands)
    pairs = any(map(is_complex, operands))
    part = part_dtype(operands[0].dtype) if pairs else operands[0].dtype
    signature = codelet_named(name).signature
    assert signature is not None, "a codelet on stacks"
    if pairs and "p" not in signature.loops:
        name = f"{name}_complex"
        signature = codelet_named(name).signature
        assert signature is not None, "a codelet on stacks"
    shapes = [(*each.shape, 2) if is_complex(each) else each.shape for each in operands]
    stack = shapes[0][: len(shapes[0]) - len(signature.inputs[0])]
    for shape, names in zip(shapes, signature.inputs, strict=True):
        sizes.update(zip((each[0] for each in names), shape[len(stack) :], strict=True))
    sizes.setdefault("k", min(sizes.get("m", 0), sizes.get("n", 0)))
    sizes.setdefault("h", sizes.get("n", 0) // 2 + 1)
    sizes["p"] = 2
    made = [(*stack, *(sizes[each[0]] for each in names)) for names in signature.outputs]
    types = types or [np.dtype(np.int32) if name.startswith("lu") and number else part for number in range(len(made))]
    if any(0 in shape for shape in (*shapes, *made)):
        found = codelet_named(name).vectorised
        assert found is not None, "codelets on stacks have a fast form"
        values = list(found(*(np.zeros(shape, part) for shape in shapes)))
        results = [trace.constant(np.asarray(each, dtype)) for each, dtype in zip(values, types, strict=True)]
    else:
        with trace.emit(label):
            called = call_codelet(name, [each.value for each in operands], made, [element_type(each) for each in types])
            results = [trace.wrap(*each) for each in zip(called, made, types, strict=True)]
    return tuple(
        trace.wrap(each.value, each.shape[:-1], whole_dtype(each.dtype)) if names[-1:] == ("p",) else each
        for each, names in zip(results, signature.outputs, strict=True)
    )
