"""Executables in functions that JAX transforms: ``jax.jit``, ``jax.grad``, ``jax.vmap`` and what is built of them.

JAX calls back to the host, where the program runs as ever; its gradient is that of ``ipu-autodiff``, a program too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import jax
import numpy as np

from ipu_mlir.compilation.entry import entries_alone
from ipu_mlir.dialects.analysis.variables import variables_in
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.remembered import remembering
from ipu_mlir.frontends.of_jax.calls import JaxCall, MeshCall
from ipu_mlir.passes.autodiff.autodiff import Autodiff
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import PassStep
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.structure import Call as TracedCall
from ipu_mlir.tracing.structure import flatten_arguments

if TYPE_CHECKING:
    from ipu_mlir.compilation.executable import Executable

_PROGRAMS: "WeakKeyDictionary[Executable, Callable[..., Any]]" = WeakKeyDictionary()
_GRADIENTS: "WeakKeyDictionary[Executable, Executable]" = WeakKeyDictionary()


def is_in_jax(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """True if JAX is transforming the function that calls with these arguments."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((tuple(args), dict(kwargs))))


def called_in_jax(executable: "Executable", call: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The results of a call with values of JAX that are not known yet, nested as of any call.

    Raises:
        RunError: the program cannot be called so, or not with these arguments.
    """
    if executable.engine.has_state:
        raise RunError(
            f"{executable.entry} has variables, queues or other effects, which a function of JAX cannot have; call it "
            "outside of jax.jit, jax.grad and jax.vmap"
        )
    if isinstance(call, JaxCall) and not isinstance(call, MeshCall):
        leaves = call.leaves(args, kwargs)
        kinds = [dtype for _, dtype in call.outputs]
        return call.nested(_called(executable, leaves, kinds))
    if isinstance(call, TracedCall):
        found = _called(executable, _traced_leaves(call, args, kwargs), [spec.dtype for spec in call.result_specs])
        return call.nested(found)
    if call is None and not kwargs:
        found = _called(executable, list(args), [spec.dtype for spec in executable.result_specs])
        return found[0] if len(found) == 1 else tuple(found)
    raise RunError(
        f"{executable.entry} takes more than arrays or runs on a mesh; call it outside of transformations of JAX"
    )


def _traced_leaves(call: TracedCall, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The tensors among the arguments of a function that we have traced, in the order in which its program has them."""
    leaves, tree = jax.tree.flatten((tuple(args), dict(kwargs)))
    arrays = {
        number: np.zeros(leaf.shape, leaf.dtype) for number, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)
    }
    marked, named = jax.tree.unflatten(tree, [arrays.get(number, leaf) for number, leaf in enumerate(leaves)])
    call.flatten(marked, named)  # refuses others than those that the program was compiled for
    numbers = {id(array): number for number, array in arrays.items()}
    found = flatten_arguments(call.bind(marked, named), call.static)[1]
    return [leaves[numbers[id(each)]] if id(each) in numbers else each for each in found]


def _called(executable: "Executable", leaves: Sequence[Any], kinds: Sequence[Any]) -> list[Any]:
    """The results, of the types ``kinds``, for the flat arguments."""
    specs = executable.argument_specs
    given = [_as_in_program(leaf, spec, place) for place, (leaf, spec) in enumerate(zip(leaves, specs, strict=True))]
    return [_as_in_jax(each, kind) for each, kind in zip(_program(executable)(*given), kinds, strict=True)]


def _program(executable: "Executable") -> Callable[..., Any]:
    """The program as a function of JAX on arrays as it takes them, with its gradient."""
    if executable in _PROGRAMS:
        return _PROGRAMS[executable]
    run, gives = executable.run, [(spec.shape, _canonical(spec.dtype)) for spec in executable.result_specs]
    takes = executable.argument_specs

    def on_host(*arrays: Any) -> tuple[np.ndarray, ...]:
        inputs = [np.asarray(array, spec.dtype) for array, spec in zip(arrays, takes, strict=True)]
        return tuple(np.asarray(found, dtype) for found, (_, dtype) in zip(run(inputs), gives, strict=True))

    def call_back(*arrays: Any) -> Any:
        shapes = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in gives)
        return jax.pure_callback(on_host, shapes, *arrays, vmap_method="sequential")

    program: Any = jax.custom_vjp(call_back)

    def forward(*arrays: Any) -> Any:
        return program(*arrays), arrays

    def backward(arrays: Any, cotangents: Any) -> Any:
        given = [each for each, (_, dtype) in zip(cotangents, gives, strict=True) if _is_float(dtype)]
        slopes = iter(_program(_gradient(executable))(*arrays, *given)[len(gives) :])
        zeros = (np.zeros(spec.shape, jax.dtypes.float0) for spec in takes)
        return tuple(next(slopes) if _is_float(spec.dtype) else zero for spec, zero in zip(takes, zeros, strict=True))

    program.defvjp(forward, backward)
    _PROGRAMS[executable] = program
    return program


def _gradient(executable: "Executable") -> "Executable":
    """The program of the arguments and of cotangents of the results that are floats; gives those of the arguments."""
    if executable not in _GRADIENTS:
        module = entries_alone(executable.module("l0").operation, (executable.entry,))
        assert not variables_in(module.operation), "refused before"
        floats = tuple(place for place, spec in enumerate(executable.argument_specs) if _is_float(spec.dtype))
        run_steps(module.operation, (PassStep(Autodiff(of=executable.entry, by=floats)),))
        with remembering():
            _GRADIENTS[executable] = type(executable)(module, f"{executable.entry}_gradient", executable.lowering)
    return _GRADIENTS[executable]


def _as_in_program(leaf: Any, spec: TensorSpec, place: int) -> Any:
    """An argument as the program takes it: unsigned integers as their bits, complex numbers as pairs."""
    array = leaf if isinstance(leaf, jax.Array) else jax.numpy.asarray(leaf)
    if jax.numpy.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    if array.dtype.kind == "u":
        array = jax.lax.bitcast_convert_type(array, f"i{array.dtype.itemsize}")
    if array.dtype.kind == "c":
        array = jax.numpy.stack([array.real, array.imag], -1)
    if not isinstance(leaf, jax.Array):
        array = array.astype(_canonical(spec.dtype))
    if array.shape != tuple(spec.shape) or array.dtype != _canonical(spec.dtype):
        raise RunError(f"input {place} is {array.dtype}{list(array.shape)}, the program was compiled for {spec}")
    return array


def _as_in_jax(found: Any, kind: Any) -> Any:
    """A result of the program with the element type that the caller sees."""
    if not isinstance(kind, np.dtype):
        raise RunError(f"the program gives random keys ({kind}), which it cannot do under a transformation of JAX")
    if kind.kind == "u":
        return jax.lax.bitcast_convert_type(found, kind)
    return jax.lax.complex(found[..., 0], found[..., 1]) if kind.kind == "c" else found


def _canonical(dtype: Any) -> np.dtype[Any]:
    """The type that JAX has for ``dtype``: without x64, that of 32 bits for 64."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def _is_float(dtype: Any) -> bool:
    return jax.numpy.issubdtype(dtype, jax.numpy.floating)
