"""Compile programs for the IPU and run them on NumPy.

    import ipu_mlir as ipu

    exe = ipu.compile("model.mlir", target=ipu.Target(ipus=1))
    results = exe.run(inputs)

Nothing is imported before it is used: ``import ipu_mlir`` costs no more than this file.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipu_mlir import debug, layers, nn, numpy, optimizers, random, tree
    from ipu_mlir.compilation.compiler import compile
    from ipu_mlir.compilation.executable import Executable
    from ipu_mlir.compilation.function import Function, function, jit
    from ipu_mlir.compilation.programs import Programs
    from ipu_mlir.compilation.sweep import sweep
    from ipu_mlir.dialects.machine.target import Target
    from ipu_mlir.dialects.mapping.mapping import Mapping
    from ipu_mlir.dialects.support.errors import CompileError, IpuError, MemoryWarning, RunError, TargetError
    from ipu_mlir.frontends.calls import buffers_of, imported, parameters_of
    from ipu_mlir.frontends.user_codelets import codelet
    from ipu_mlir.passes.plugins import load_plugin
    from ipu_mlir.passes.supersteps.checks.check_memory import OutOfMemoryError
    from ipu_mlir.programs import within_replica
    from ipu_mlir.programs.fifo import fifo
    from ipu_mlir.programs.remote import HostEmbedding, RemoteBuffer
    from ipu_mlir.programs.replicas import (
        all_gather,
        all_reduce,
        all_to_all,
        assume_equal,
        broadcast,
        per_replica,
        reduce_scatter,
        replica_index,
    )
    from ipu_mlir.programs.session import Session
    from ipu_mlir.programs.streams import Infeed, Outfeed
    from ipu_mlir.programs.variable import Variable
    from ipu_mlir.runtime.profile.profile import Profile
    from ipu_mlir.specs.specs import TensorSpec
    from ipu_mlir.stages.cut import Cut, cut
    from ipu_mlir.stages.pipeline import keep, micro_batch, pipeline
    from ipu_mlir.tracing.batching.jacobians import hessian, jacfwd, jacrev
    from ipu_mlir.tracing.batching.vmap import vmap
    from ipu_mlir.tracing.control.branches import cond, switch
    from ipu_mlir.tracing.control.custom_gradients import custom_vjp
    from ipu_mlir.tracing.control.gradients import grad, jvp, stop_gradient, value_and_grad, vjp
    from ipu_mlir.tracing.control.loops import fori_loop, while_loop
    from ipu_mlir.tracing.control.outlined import checkpoint, outlined
    from ipu_mlir.tracing.control.scans import associative_scan, map, scan
    from ipu_mlir.tracing.elements.dynamic_slices import dynamic_slice, dynamic_update_slice
    from ipu_mlir.tracing.hints import place
    from ipu_mlir.tracing.shards import shard
    from ipu_mlir.tracing.structure import register_dataclass
    from ipu_mlir.tracing.surface.tensor import Tensor
    from ipu_mlir.tracing.surface.traced import eval_shape
    from ipu_mlir.tracing.trees import tree_map
    from ipu_mlir.tracing.widths import WideFloatWarning, x64

    __version__: str

__all__ = [
    "CompileError",
    "Cut",
    "Executable",
    "Function",
    "HostEmbedding",
    "Infeed",
    "IpuError",
    "Mapping",
    "MemoryWarning",
    "OutOfMemoryError",
    "Outfeed",
    "Profile",
    "Programs",
    "RemoteBuffer",
    "RunError",
    "Session",
    "Target",
    "TargetError",
    "Tensor",
    "TensorSpec",
    "Variable",
    "WideFloatWarning",
    "__version__",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "associative_scan",
    "assume_equal",
    "broadcast",
    "buffers_of",
    "checkpoint",
    "codelet",
    "compile",
    "cond",
    "custom_vjp",
    "cut",
    "debug",
    "dynamic_slice",
    "dynamic_update_slice",
    "eval_shape",
    "fifo",
    "fori_loop",
    "function",
    "grad",
    "hessian",
    "imported",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "keep",
    "layers",
    "load_plugin",
    "map",
    "micro_batch",
    "nn",
    "numpy",
    "optimizers",
    "outlined",
    "parameters_of",
    "per_replica",
    "pipeline",
    "place",
    "random",
    "reduce_scatter",
    "register_dataclass",
    "replica_index",
    "scan",
    "shard",
    "stop_gradient",
    "sweep",
    "switch",
    "tree",
    "tree_map",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
    "within_replica",
    "x64",
]

_MODULES = {
    "debug": "ipu_mlir.debug",
    "layers": "ipu_mlir.layers",
    "nn": "ipu_mlir.nn",
    "numpy": "ipu_mlir.numpy",
    "optimizers": "ipu_mlir.optimizers",
    "random": "ipu_mlir.random",
    "torch": "ipu_mlir.torch",
    "tree": "ipu_mlir.tree",
    "within_replica": "ipu_mlir.programs.within_replica",
}
_HOME = {
    "CompileError": "ipu_mlir.dialects.support.errors",
    "Cut": "ipu_mlir.stages.cut",
    "Executable": "ipu_mlir.compilation.executable",
    "Function": "ipu_mlir.compilation.function",
    "HostEmbedding": "ipu_mlir.programs.remote",
    "Infeed": "ipu_mlir.programs.streams",
    "IpuError": "ipu_mlir.dialects.support.errors",
    "Mapping": "ipu_mlir.dialects.mapping.mapping",
    "MemoryWarning": "ipu_mlir.dialects.support.errors",
    "OutOfMemoryError": "ipu_mlir.passes.supersteps.checks.check_memory",
    "Outfeed": "ipu_mlir.programs.streams",
    "Profile": "ipu_mlir.runtime.profile.profile",
    "Programs": "ipu_mlir.compilation.programs",
    "RemoteBuffer": "ipu_mlir.programs.remote",
    "RunError": "ipu_mlir.dialects.support.errors",
    "Session": "ipu_mlir.programs.session",
    "Target": "ipu_mlir.dialects.machine.target",
    "TargetError": "ipu_mlir.dialects.support.errors",
    "Tensor": "ipu_mlir.tracing.surface.tensor",
    "TensorSpec": "ipu_mlir.specs.specs",
    "Variable": "ipu_mlir.programs.variable",
    "WideFloatWarning": "ipu_mlir.tracing.widths",
    "all_gather": "ipu_mlir.programs.replicas",
    "all_reduce": "ipu_mlir.programs.replicas",
    "all_to_all": "ipu_mlir.programs.replicas",
    "associative_scan": "ipu_mlir.tracing.control.scans",
    "assume_equal": "ipu_mlir.programs.replicas",
    "broadcast": "ipu_mlir.programs.replicas",
    "checkpoint": "ipu_mlir.tracing.control.outlined",
    "codelet": "ipu_mlir.frontends.user_codelets",
    "compile": "ipu_mlir.compilation.compiler",
    "buffers_of": "ipu_mlir.frontends.calls",
    "cond": "ipu_mlir.tracing.control.branches",
    "custom_vjp": "ipu_mlir.tracing.control.custom_gradients",
    "cut": "ipu_mlir.stages.cut",
    "dynamic_slice": "ipu_mlir.tracing.elements.dynamic_slices",
    "dynamic_update_slice": "ipu_mlir.tracing.elements.dynamic_slices",
    "fifo": "ipu_mlir.programs.fifo",
    "eval_shape": "ipu_mlir.tracing.surface.traced",
    "fori_loop": "ipu_mlir.tracing.control.loops",
    "function": "ipu_mlir.compilation.function",
    "grad": "ipu_mlir.tracing.control.gradients",
    "hessian": "ipu_mlir.tracing.batching.jacobians",
    "imported": "ipu_mlir.frontends.calls",
    "jacfwd": "ipu_mlir.tracing.batching.jacobians",
    "jacrev": "ipu_mlir.tracing.batching.jacobians",
    "jit": "ipu_mlir.compilation.function",
    "jvp": "ipu_mlir.tracing.control.gradients",
    "load_plugin": "ipu_mlir.passes.plugins",
    "map": "ipu_mlir.tracing.control.scans",
    "outlined": "ipu_mlir.tracing.control.outlined",
    "parameters_of": "ipu_mlir.frontends.calls",
    "per_replica": "ipu_mlir.programs.replicas",
    "pipeline": "ipu_mlir.stages.pipeline",
    "keep": "ipu_mlir.stages.pipeline",
    "micro_batch": "ipu_mlir.stages.pipeline",
    "place": "ipu_mlir.tracing.hints",
    "reduce_scatter": "ipu_mlir.programs.replicas",
    "register_dataclass": "ipu_mlir.tracing.structure",
    "replica_index": "ipu_mlir.programs.replicas",
    "scan": "ipu_mlir.tracing.control.scans",
    "shard": "ipu_mlir.tracing.shards",
    "stop_gradient": "ipu_mlir.tracing.control.gradients",
    "sweep": "ipu_mlir.compilation.sweep",
    "switch": "ipu_mlir.tracing.control.branches",
    "tree_map": "ipu_mlir.tracing.trees",
    "value_and_grad": "ipu_mlir.tracing.control.gradients",
    "vjp": "ipu_mlir.tracing.control.gradients",
    "vmap": "ipu_mlir.tracing.batching.vmap",
    "while_loop": "ipu_mlir.tracing.control.loops",
    "x64": "ipu_mlir.tracing.widths",
}


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
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("ipu-mlir")
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    else:
        way = _ELSEWHERE.get(name) or f"it has {', '.join(__all__)}"
        raise AttributeError(f"module 'ipu_mlir' has no attribute {name!r}; {way}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
