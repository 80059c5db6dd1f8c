"""Results that are as large as values say: programs give them whole, and how much of them counts."""

from collections.abc import Sequence

import numpy as np

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.importing.bounded.counts import I32, dynamic_dimensions

Cut = tuple[int, int]
"""A result, and a dimension of it whose size depends on values."""


def with_sizes_of_results(text: str) -> tuple[str | ir.Module, tuple[Cut, ...]]:
    """A program in StableHLO whose function gives such sizes behind its results, and where they belong."""
    if "bounds<" not in text:
        return text, ()
    module = parse_module(text, ipu.context())
    main = next(op.operation for op in module.body if op.operation.attributes["sym_name"].value == "main")
    end = terminator(main.regions[0].blocks[0])
    values = list(end.operands)
    cuts = [(place, axis) for place, value in enumerate(values) for axis in sorted(dynamic_dimensions(value.type))]
    with module.context, ir.InsertionPoint(end), end.location:
        for place, axis in cuts:
            dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)}
            asked = ir.Operation.create(
                "stablehlo.get_dimension_size", [ir.Type.parse(I32)], [values[place]], dimension
            )
            values.append(asked.results[0])
        ir.Operation.create("func.return", [], values)
        end.erase()
        inputs = ir.FunctionType(main.attributes["function_type"].value).inputs
        kind = ir.FunctionType.get(inputs, [value.type for value in values])
        main.attributes["function_type"] = ir.TypeAttr.get(kind)
    return module, tuple(cuts)


def cut(results: Sequence[np.ndarray], cuts: Sequence[Cut]) -> list[np.ndarray]:
    """The results of such a program, without sizes."""
    found, sizes = list(results[: len(results) - len(cuts)]), results[len(results) - len(cuts) :]
    for (place, axis), size in zip(cuts, sizes, strict=True):
        found[place] = found[place][(slice(None),) * axis + (slice(int(size)),)]
    return found
