"""JAX: functions, jitted or not, on one device or a mesh, and what ``jax.export`` or ``lower`` makes of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax import export
from jax.extend.core import primitives
from jax.interpreters import mlir

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.of_jax.callbacks import callbacks_of
from ipu_mlir.frontends.of_jax.calls import JaxCall, MeshCall, Shape, narrowed_leaves, static_arguments, without_static
from ipu_mlir.frontends.of_jax.derivatives import derivative_rules
from ipu_mlir.frontends.of_jax.meshes import is_on_mesh, local_program
from ipu_mlir.frontends.of_jax.pmaps import as_jitted, is_pmap
from ipu_mlir.frontends.of_jax.stages import as_lowered, function_of_jaxpr, kept_arguments
from ipu_mlir.frontends.of_jax.wrapped import unwrapped
from ipu_mlir.frontends.table import Imported
from ipu_mlir.passes.importing.stablehlo.program_call import PREFIX
from ipu_mlir.passes.importing.stablehlo.program_calls import CALLS
from ipu_mlir.specs.specs import TensorSpec


def import_program(source: Any, args: Any, kwargs: Mapping[str, Any]) -> Imported:
    """A JAX function for ``args`` (arrays, ``jax.ShapeDtypeStruct`` or ``TensorSpec``), or a traced or exported one."""
    if isinstance(source, _Function):
        before = _WITH_DERIVATIVES.set(True)
        try:
            return import_program(source.source, args, kwargs)
        finally:
            _WITH_DERIVATIVES.reset(before)
    if isinstance(source, export.Exported):
        return Imported(source.mlir_module_serialized, _call(source, {}))
    lowered = as_lowered(source)
    if lowered is not None:
        return _of_lowered(lowered)
    of_jaxpr = function_of_jaxpr(source)
    if of_jaxpr is not None:
        return _exported(jax.jit(of_jaxpr[0]), of_jaxpr[1] if args is None else args, {})
    if not callable(source):  # a module of JAX's own bindings
        return Imported(source.operation.get_asm(large_elements_limit=None, enable_debug_info=True))
    if args is None:
        raise CompileError(f"{source!r} is traced for given shapes; pass args=[jax.ShapeDtypeStruct(...), ...]")
    wrapped = unwrapped(source, args, kwargs)
    if wrapped is None:
        return _exported(_jitted(source), args, kwargs)
    imported = _exported(jax.jit(wrapped.function), wrapped.args, {})
    return replace(imported, call=wrapped.call_of(imported.call))


def with_static(source: Any, names: frozenset[str]) -> Any:
    """The function ``source`` with these parameters as part of the program."""
    return jax.jit(source, static_argnames=sorted(names))


def _exported(jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Imported:
    static = static_arguments(jitted, args, kwargs)
    imported = _traced(jitted, args, kwargs, static)
    call: Any = imported.call
    narrowed = narrowed_leaves(jax.tree.leaves(without_static(args, kwargs, static)), call.inputs)
    return replace(imported, call=replace(call, narrowed=narrowed)) if narrowed else imported


def _traced(jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any], static: Mapping[int | str, Any]) -> Imported:
    args = [each if place in static else jax.tree.map(_spec, each) for place, each in enumerate(args)]
    kwargs = {name: each if name in static else jax.tree.map(_spec, each) for name, each in kwargs.items()}
    checks = [export.DisabledSafetyCheck.custom_call(PREFIX + name) for name in CALLS]
    exporting = export.export(
        jitted,
        platforms=["cpu"],
        disabled_checks=checks,
        _override_lowering_rules=(_ERFC, _STOP, *(derivative_rules() if _WITH_DERIVATIVES.get() else ())),
    )
    try:
        with _shardy(False):
            exported = exporting(*args, **kwargs)
        if is_on_mesh(exported):
            with _shardy(True):
                again = exporting(*args, **kwargs)
            return _on_mesh(again.mlir_module(), _call(again, static))
    except ValueError as error:
        if _WITHOUT_GUARANTEES not in str(error):
            raise
        return _of_lowered(jitted.trace(*args, **kwargs).lower(lowering_platforms=("cpu",)), static)
    except NotImplementedError as error:  # as of calls of Python
        imported = _of_lowered(jitted.trace(*args, **kwargs).lower(lowering_platforms=("cpu",)), static)
        if not imported.functions:
            raise CompileError(f"JAX cannot export {getattr(jitted, '__name__', jitted)}: {error}") from error
        return imported
    return Imported(exported.mlir_module_serialized, _call(exported, static))


_WITHOUT_GUARANTEES = "custom calls whose targets have no compatibility guarantees"
"""How ``export`` refuses a program that it could not load again; its calls are refused by name later."""

_ERFC = (
    jax.lax.erfc_p,
    mlir.lower_fun(jax.lax.composite(lambda x: 1 - jax.lax.erf(x), name="chlo.erfc"), multiple_results=False),
)
"""Under its name: ``export`` writes it out as two polynomials, other than ``erf``, whose name it keeps."""


def _stopped(x: Any) -> Any:
    if jax.numpy.iscomplexobj(x):
        return jax.lax.complex(_stopped(x.real), _stopped(x.imag))
    return jax.ffi.ffi_call(f"{PREFIX}stop_gradient", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


_STOP = (primitives.stop_gradient_p, mlir.lower_fun(_stopped, multiple_results=False))
"""As a call: ``export`` leaves it out, and gradients of the program would go through it."""


def _of_lowered(lowered: jax.stages.Lowered, static: Mapping[int | str, Any] | None = None) -> Imported:
    module: Any = lowered.compiler_ir("stablehlo")
    text = module.operation.get_asm(large_elements_limit=None, enable_debug_info=True)
    given, gives = jax.tree.leaves(lowered.in_avals), jax.tree.leaves(lowered.out_info)
    inputs, outputs = (tuple(map(_shape_and_type, avals)) for avals in (given, gives))
    call = JaxCall(lowered.in_tree, lowered.out_tree, inputs, kept_arguments(lowered), outputs, static or {})
    imported = _on_mesh(text, call) if "sdy." in text else Imported(text, call)
    return replace(imported, functions=callbacks_of(lowered))


def _on_mesh(program: str, call: JaxCall) -> Imported:
    """What one replica computes of a program on several devices, or on a mesh of one."""
    local = local_program(program)
    if local.replicas == 1:
        return Imported(local.program, call)
    fields = {name: getattr(call, name) for name in ("in_tree", "out_tree", "inputs", "kept", "outputs", "static")}
    return Imported(local.program, MeshCall(**fields, cut=local.inputs, cut_results=local.outputs), local.replicas)


def _jitted(source: Any) -> Any:
    if is_pmap(source):
        return as_jitted(source)
    return source if isinstance(source, jax.stages.Wrapped) else jax.jit(source)


def as_function(source: Any) -> Any:
    """``source`` as one whose program carries the derivatives that JAX has for what it calls."""
    return _Function(source)


@dataclass(frozen=True)
class _Function:
    """A function that gradients may be asked of."""

    source: Any


_WITH_DERIVATIVES: ContextVar[bool] = ContextVar("programs carry derivatives", default=False)


@contextmanager
def _shardy(is_on: bool) -> Iterator[None]:
    """Shardings as ops of their own dialect, which only JAX's own bindings can read, or as marks of StableHLO."""
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", is_on)
    try:
        yield
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


def _spec(leaf: Any) -> Any:
    """What JAX traces for a leaf of the arguments: ours are specs, arrays have a place if they are cut over devices."""
    if isinstance(leaf, TensorSpec):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
    if not isinstance(leaf, jax.Array) or isinstance(leaf, jax.core.Tracer) or not isinstance(leaf.dtype, np.dtype):
        return leaf  # random keys too
    place = leaf.sharding if isinstance(leaf.sharding, jax.sharding.NamedSharding) else None
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=place, weak_type=leaf.weak_type)


def _call(exported: export.Exported, static: Mapping[int | str, Any]) -> JaxCall:
    inputs, outputs = (tuple(map(_shape_and_type, avals)) for avals in (exported.in_avals, exported.out_avals))
    return JaxCall(exported.in_tree, exported.out_tree, inputs, exported.module_kept_var_idx, outputs, static)


def _shape_and_type(aval: Any) -> tuple[Shape, np.dtype[Any] | str]:
    """Of random keys, the type as text."""
    dtype = aval.dtype if isinstance(aval.dtype, np.dtype) else str(aval.dtype)
    return tuple(size if isinstance(size, int) else None for size in aval.shape), dtype
