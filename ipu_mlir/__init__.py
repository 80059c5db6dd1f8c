"""Compile programs for the IPU and run them on NumPy.

    import ipu_mlir as ipu

    exe = ipu.compile("model.mlir", target=ipu.Target(ipus=1))
    results = exe.run(inputs)

Nothing is imported before it is used: ``import ipu_mlir`` costs no more than this file.
"""

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipu_mlir import (
        debug as debug,
        layers as layers,
        nn as nn,
        numpy as numpy,
        optimizers as optimizers,
        random as random,
        tree as tree,
    )
    from ipu_mlir.compilation.compiler import compile as compile
    from ipu_mlir.compilation.executable import Executable as Executable
    from ipu_mlir.compilation.function import Function as Function, function as function, jit as jit
    from ipu_mlir.compilation.programs import Programs as Programs
    from ipu_mlir.compilation.sweep import sweep as sweep
    from ipu_mlir.dialects.machine.target import Target as Target
    from ipu_mlir.dialects.mapping.mapping import Mapping as Mapping
    from ipu_mlir.dialects.support.errors import (
        CompileError as CompileError,
        IpuError as IpuError,
        MemoryWarning as MemoryWarning,
        RunError as RunError,
        TargetError as TargetError,
    )
    from ipu_mlir.frontends.calls import buffers_of as buffers_of, imported as imported, parameters_of as parameters_of
    from ipu_mlir.frontends.user_codelets import codelet as codelet
    from ipu_mlir.passes.plugins import load_plugin as load_plugin
    from ipu_mlir.passes.supersteps.checks.check_memory import OutOfMemoryError as OutOfMemoryError
    from ipu_mlir.programs import within_replica as within_replica
    from ipu_mlir.programs.fifo import fifo as fifo
    from ipu_mlir.programs.remote import HostEmbedding as HostEmbedding, RemoteBuffer as RemoteBuffer
    from ipu_mlir.programs.replicas import (
        all_gather as all_gather,
        all_reduce as all_reduce,
        all_to_all as all_to_all,
        assume_equal as assume_equal,
        broadcast as broadcast,
        per_replica as per_replica,
        reduce_scatter as reduce_scatter,
        replica_index as replica_index,
    )
    from ipu_mlir.programs.session import Session as Session
    from ipu_mlir.programs.streams import Infeed as Infeed, Outfeed as Outfeed
    from ipu_mlir.programs.variable import Variable as Variable
    from ipu_mlir.runtime.profile.profile import Profile as Profile
    from ipu_mlir.specs.specs import TensorSpec as TensorSpec
    from ipu_mlir.stages.cut import Cut as Cut, cut as cut
    from ipu_mlir.stages.pipeline import keep as keep, micro_batch as micro_batch, pipeline as pipeline
    from ipu_mlir.tracing.batching.jacobians import hessian as hessian, jacfwd as jacfwd, jacrev as jacrev
    from ipu_mlir.tracing.batching.vmap import vmap as vmap
    from ipu_mlir.tracing.control.branches import cond as cond, switch as switch
    from ipu_mlir.tracing.control.custom_gradients import custom_vjp as custom_vjp
    from ipu_mlir.tracing.control.gradients import (
        grad as grad,
        jvp as jvp,
        stop_gradient as stop_gradient,
        value_and_grad as value_and_grad,
        vjp as vjp,
    )
    from ipu_mlir.tracing.control.loops import fori_loop as fori_loop, while_loop as while_loop
    from ipu_mlir.tracing.control.outlined import checkpoint as checkpoint, outlined as outlined
    from ipu_mlir.tracing.control.scans import associative_scan as associative_scan, map as map, scan as scan
    from ipu_mlir.tracing.elements.dynamic_slices import (
        dynamic_slice as dynamic_slice,
        dynamic_update_slice as dynamic_update_slice,
    )
    from ipu_mlir.tracing.hints import place as place
    from ipu_mlir.tracing.shards import shard as shard
    from ipu_mlir.tracing.structure import register_dataclass as register_dataclass
    from ipu_mlir.tracing.surface.tensor import Tensor as Tensor
    from ipu_mlir.tracing.surface.traced import eval_shape as eval_shape
    from ipu_mlir.tracing.trees import tree_map as tree_map
    from ipu_mlir.tracing.widths import WideFloatWarning as WideFloatWarning, x64 as x64

    __version__: str


_ELSEWHERE = {
    "block_until_ready": "results are arrays of NumPy, which are there when a call returns",
    "device_get": "results are arrays of NumPy, on the host",
    "device_put": "a call copies arrays to the device; an ipu.Variable of an ipu.Session stays there between calls",
    "devices": "a program runs on the machine of its target, ipu.Target(ipus=..., replicas=...)",
    "lax": "scan, while_loop, fori_loop, cond, switch, map and associative_scan are names of ipu itself",
    "make_jaxpr": "ipu.function(f).trace(*args) gives the program of f as MLIR",
    "pmap": "a program runs once per replica of its target, ipu.Target(replicas=4): ipu.per_replica says what differs, "
    "ipu.all_reduce and the like exchange it; ipu.compile takes a jax.pmap as it is",
    "psum": "ipu.all_reduce sums over replicas",
    "remat": "use ipu.checkpoint",
    "tree_util": "use ipu.tree",
}
"""What to say of names that users of JAX look for."""


def __getattr__(name: str) -> Any:
    """Import ``name`` when it is first asked for (PEP 562)."""
    if name == "__all__":
        value: Any = sorted({*_homes(), "__version__"})
    elif name == "__version__":
        from importlib.metadata import version

        value = version("ipu-mlir")
    elif name == "torch" or _homes().get(name) == __name__:
        return importlib.import_module(f"{__name__}.{name}")
    elif name in _homes():
        value = getattr(__import__(_homes()[name], fromlist=[name]), name)
    else:
        way = _ELSEWHERE.get(name) or f"it has {', '.join(__getattr__('__all__'))}"
        raise AttributeError(f"module 'ipu_mlir' has no attribute {name!r}; {way}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __getattr__("__all__")


@cache
def _homes() -> dict[str, str]:
    """Where each public name is imported from, as type checkers read it above."""
    import ast
    from pathlib import Path

    (block,) = (each for each in ast.parse(Path(__file__).read_text()).body if isinstance(each, ast.If))
    imports = (each for each in block.body if isinstance(each, ast.ImportFrom))
    return {alias.name: each.module or "" for each in imports for alias in each.names}
