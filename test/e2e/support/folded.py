"""The results of programs whose arguments have become constants."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.matchers import constant_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.normalize.folding.constant_arrays import array_of, dense_of
from ipu_mlir.passes.normalize.folding.fold_constants import FoldConstants


def folded(text: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray | None]:
    """The results of ``@main`` for ``inputs`` after ``ipu-fold-constants``; None for what is no constant."""
    with ipu.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        main: Any = ir.SymbolTable(module.operation)["main"]
        block = main.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block):
            for argument, array in zip(block.arguments, inputs, strict=True):
                value = dense_of(array, argument.type)
                argument.replace_all_uses_with(upstream("arith").ConstantOp(argument.type, value).result)
        FoldConstants(most_bytes=1000000).run(module.operation)
        constants = [constant_of(value) for value in terminator(block).operands]
        return [None if each is None else array_of(each) for each in constants]
