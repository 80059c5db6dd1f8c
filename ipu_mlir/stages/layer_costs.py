"""Cycles and bytes of a layer in training: its forward and backward code, compiled for one IPU."""

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ipu_mlir.compilation.compiler import compile
from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.function import function
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import MemoryWarning
from ipu_mlir.specs.specs import spec_of
from ipu_mlir.stages.stored_bytes import stored_bytes
from ipu_mlir.tracing.control.gradients import vjp
from ipu_mlir.tracing.structure import unflatten
from ipu_mlir.tracing.trees import tree_leaves, tree_map

LayerFunction = Callable[[Any, Any], Any]
"""From parameters and what the layer before gives to what the layer gives."""


@dataclass(frozen=True)
class LayerCost:
    """A layer for one micro-batch, on one IPU.

    Attributes:
        name: of the layer.
        cycles: of its forward and backward code, with the exchanges and syncs in it.
        parameter_bytes: of its parameters.
        working_bytes: of all tiles together while it runs, without parameters and their gradients.
        stored_bytes: of what waits from its forward to its backward code.
    """

    name: str
    cycles: int
    parameter_bytes: int
    working_bytes: int
    stored_bytes: int


def layer_costs(
    layers: Sequence[LayerFunction],
    names: Sequence[str],
    parameters: Sequence[Any],
    x: Any,
    target: Target,
    recompute: str,
) -> list[LayerCost]:
    """The cost of each of ``layers``, one after the other; equal layers are compiled once.

    Args:
        parameters: of each layer, arrays or specs.
        x: what the first layer takes, for one micro-batch.
        target: one of its IPUs is taken.
        recompute: of the pipeline.
    """
    one = replace(target, ipus=1, replicas=1, emulated=True)
    known: dict[Any, LayerCost] = {}
    found = []
    for layer, name, own in zip(layers, names, parameters, strict=True):
        specs = tree_map(spec_of, own)
        module, call = function(layer).trace_call((specs, x))
        key = hashlib.sha256(module.operation.get_asm().encode()).digest()
        result = unflatten(call.results, iter(call.result_specs))
        if key not in known:
            known[key] = _measured(layer, name, (specs, x, result), one, recompute)
        found.append(replace(known[key], name=name))
        x = result
    return found


def _measured(
    layer: LayerFunction, name: str, specs: tuple[Any, Any, Any], target: Target, recompute: str
) -> LayerCost:
    """The cost of a layer for specs of its parameters, of what it takes and of what it gives."""
    parameters, x, _ = specs

    def both(parameters: Any, x: Any, cotangents: Any) -> Any:
        y, back = vjp(layer, parameters, x)
        return y, back(cotangents)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MemoryWarning)  # whether it fits is asked of whole stages
        exe = compile(both, args=specs, target=target)
    assert isinstance(exe, Executable), "all sizes are known"
    profile = exe.profile()
    cycles = profile.execution.cycles
    own = sum(spec_of(leaf).nbytes for leaf in tree_leaves(parameters))
    whole = int(np.sum(profile.tile_bytes()))
    stored = stored_bytes(layer, parameters, x, recompute)
    return LayerCost(name, cycles.total - cycles.host, own, max(whole - 2 * own, 0), stored)
