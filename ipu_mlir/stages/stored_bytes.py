"""Bytes that a layer stores in a pipeline, between its forward and its backward code."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.compilation.function import function
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.pipelines import PIPELINE, pipeline_of
from ipu_mlir.optimizers.optimizer import is_float
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.pipelining.stage_types import gradient_name
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import spec_of_type
from ipu_mlir.stages.pipeline import pipeline
from ipu_mlir.tracing.trees import tree_leaves, tree_map

_SPLITTING = ("ipu-differentiate-stages", "ipu-autodiff", "ipu-split-stages")


def stored_bytes(layer: Callable[[Any, Any], Any], parameters: Any, x: Any, recompute: str) -> int:
    """Bytes that ``layer`` stores as the middle one of three stages, of which no other computes anything.

    Args:
        parameters, x: specs of what it takes.
        recompute: of the pipeline.
    """
    count = 6

    def first(moved: Any, x: Any) -> Any:
        """``x``, by which the loss is differentiated."""
        return tree_map(lambda leaf: leaf + moved.astype(leaf.dtype) if is_float(leaf) else leaf, x)

    def last(_: Any, y: Any) -> Any:
        return sum(leaf.sum().astype(np.float32) for leaf in tree_leaves(y) if is_float(leaf))

    def run(parameters: Any, x: Any) -> Any:
        stages = pipeline([first, layer, last], count, recompute=recompute)
        return stages.value_and_grad([np.float32(0), parameters, ()], [x])

    rows = tree_map(lambda spec: TensorSpec((count, *spec.shape), spec.dtype), x)
    module, _ = function(run).trace_call((parameters, rows))
    run_steps(module.operation, Registry(PASSES, PIPELINES).resolve(list(_SPLITTING)))
    described = pipeline_of(next(iter(list_ops(module.operation, PIPELINE))))
    kinds = {symbol_of(op): op.attributes["function_type"].value for op in list_ops(module.operation, "func.func")}
    forward, own = kinds[f"{gradient_name(described, 1)}_forward"], kinds[described.functions[1]]
    return sum(spec_of_type(each).nbytes for each in list(forward.results)[len(own.results) :])
