"""Programs that JAX has traced or lowered: ``Traced``, ``Lowered``, ``ClosedJaxpr``."""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ipu_mlir.dialects.support.errors import CompileError


def as_lowered(source: Any) -> Any | None:
    """``source`` as ``jax.stages.Lowered``; None if it is a function or something else that is not traced.

    Raises:
        CompileError: it is a ``Compiled``, which is a program of the host.
    """
    if isinstance(source, jax.stages.Compiled):
        raise CompileError("a Compiled of JAX is machine code of the host; give what it was compiled from: its Lowered")
    if isinstance(source, jax.stages.Traced):
        return source.lower(lowering_platforms=("cpu",))
    return source if isinstance(source, jax.stages.Lowered) else None


def kept_arguments(lowered: jax.stages.Lowered) -> tuple[int, ...]:
    """The leaves of the arguments that the program takes; JAX drops those that nobody reads.

    Raises:
        CompileError: this version of JAX does not say which it has dropped.
    """
    module: Any = lowered.compiler_ir("stablehlo")
    inputs = next(op for op in module.body.operations if str(getattr(op, "name", "")) == '"main"').type.inputs
    taken = [each for each in inputs if "token" not in str(each)]
    leaves = jax.tree.leaves(lowered.in_avals)
    if len(taken) == len(leaves):
        return tuple(range(len(leaves)))
    kept = getattr(getattr(lowered, "_lowering", None), "compile_args", {}).get("kept_var_idx")
    if kept is None or len(kept) != len(taken):
        raise CompileError("JAX has dropped arguments that are not used; lower jax.jit(f, keep_unused=True)")
    return tuple(sorted(kept))


def function_of_jaxpr(source: Any) -> tuple[Callable[..., Any], list[jax.ShapeDtypeStruct]] | None:
    """A ``ClosedJaxpr`` as a function, and what it takes; None for all else."""
    if not isinstance(source, ClosedJaxpr):
        return None
    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in source.in_avals]
    return _as_one_or_several(source), specs


def _as_one_or_several(source: Any) -> Callable[..., Any]:
    run = jaxpr_as_fun(source)

    def function(*args: Any) -> Any:
        found = run(*args)
        return found[0] if len(found) == 1 else tuple(found)

    return function
