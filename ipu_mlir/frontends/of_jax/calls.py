"""How functions of JAX are called: their pytrees of arguments and results, and the flat arrays of programs."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import attrgetter, is_
from typing import Any, TypeGuard

import jax
import numpy as np

from ipu_mlir.dialects.support.arguments import as_argument
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.frontends.of_jax.meshes import Sharding
from ipu_mlir.frontends.support.few_bits import in_bytes, is_of_few_bits
from ipu_mlir.runtime.engine.inputs import AsExpected

try:  # what jax.device_put comes to, without its 60 us of Python
    _jax: Any = importlib.import_module("jaxlib._jax")
    _Array, _put = _jax.ArrayImpl, _jax.batched_device_put
except (ImportError, AttributeError):  # of another jaxlib: calls take longer
    _Array: Any = None
    _put: Any = None

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class JaxCall:
    """Arguments and results of a JAX function, which are pytrees.

    Attributes:
        in_tree, out_tree: how ``(args, kwargs)``, without static arguments, and the results are nested.
        inputs: shape and type of every leaf of the arguments; None is a size that the argument gives.
        kept: numbers of the leaves that the program takes; JAX drops those that nobody reads.
        outputs: shape and type of every leaf of the results.
        static: values of the static arguments, by position or name.
        narrowed: numbers of the leaves that were compiled for arrays of 64 bits, of which JAX makes 32.
    """

    in_tree: Any
    out_tree: Any
    inputs: tuple[tuple[Shape, np.dtype[Any] | str], ...]
    kept: tuple[int, ...]
    outputs: tuple[tuple[Shape, np.dtype[Any] | str], ...]
    static: Mapping[int | str, Any]
    narrowed: frozenset[int] = field(default=frozenset(), kw_only=True)

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not those that the program was compiled for.
        """
        if not self.static:
            is_flat = self._is_flat and not kwargs and len(args) == len(self.inputs)
            leaves, tree = (args, self.in_tree) if is_flat else jax.tree.flatten((args, kwargs))
            if tree == self.in_tree and (arrays := self._as_they_are(leaves)) is not None:
                return arrays
        leaves = self.leaves(args, kwargs)
        return [self._array(leaf, number) for leaf, number in zip(leaves, self.kept, strict=True)]

    def leaves(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of the arguments of a call that the program takes.

        Raises:
            RunError: the arguments are nested otherwise, or static ones are others.
        """
        check_static(self.static, args, kwargs)
        leaves, tree = jax.tree.flatten(without_static(args, kwargs, self.static))
        if tree != self.in_tree:
            raise RunError(f"the arguments are {tree}, the program was compiled for {self.in_tree}")
        return [leaves[number] for number in self.kept]

    @cached_property
    def _is_flat(self) -> bool:
        """True if each argument is a leaf, and has no name."""
        return self.in_tree == jax.tree.structure(((0,) * len(self.inputs), {}))

    def _as_they_are(self, leaves: Sequence[Any]) -> list[np.ndarray] | None:
        """The leaves that the program takes if all are arrays of just its shapes and types.

        NumPy takes a microsecond to read a small array of JAX, which cannot change: those of the last call are kept.
        """
        if self._forms is None:
            return None
        taken = leaves if len(leaves) == len(self._forms) else [leaves[number] for number in self.kept]
        last = self._last
        if last and all(map(is_, taken, last[0])) and not any(map(_Array.is_deleted, taken)):
            return last[1]
        types = set(map(type, taken))
        if not types <= _ARRAYS:
            return None
        arrays = list(map(np.asarray, taken))
        if list(map(_FORM_OF, arrays)) != self._forms:
            return None
        if np.ndarray not in types:
            is_small = sum(array.nbytes for array in arrays) < _KEPT_BYTES
            is_kept = is_small and all(array.flags.c_contiguous for array in arrays)
            self.__dict__["_last"] = (taken, AsExpected(arrays)) if is_kept else ()
        return arrays

    @cached_property
    def _last(self) -> tuple[Sequence[Any], list[np.ndarray]] | tuple[()]:
        """The leaves of the last call and their arrays, if all together are small and of JAX."""
        return ()

    @cached_property
    def _forms(self) -> list[tuple[np.dtype[Any], Shape]] | None:
        """Type and shape of each leaf that the program takes; None if it takes any in another form than JAX has it."""
        wanted = [self.inputs[number] for number in self.kept]
        forms = [(dtype, shape) for shape, dtype in wanted if _is_as_in_programs(dtype)]
        return forms if len(forms) == len(wanted) else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_last", "_avals")}

    def _array(self, leaf: Any, number: int) -> np.ndarray:
        """A leaf of the arguments as the program takes it: its integers have no sign, and 8 bits or more, its random
        keys are numbers, and its complex numbers are pairs."""
        shape, dtype = self.inputs[number]
        if not isinstance(dtype, np.dtype):
            return self._key_data(leaf, number)
        array = np.asarray(leaf) if isinstance(leaf, jax.Array) and isinstance(leaf.dtype, np.dtype) else leaf
        if number in self.narrowed:
            array = _narrowed(array, dtype)
        if type(array) is not np.ndarray or array.dtype is not dtype or array.shape != shape:
            array = as_argument(array, shape, dtype, lambda: self._name(number))
        if dtype.kind == "c":
            return np.ascontiguousarray(array).reshape(-1).view(f"f{array.itemsize // 2}").reshape(*array.shape, 2)
        if is_of_few_bits(dtype):
            return in_bytes(array)
        return array.view(f"i{array.itemsize}") if dtype.kind == "u" else array

    def _key_data(self, leaf: Any, number: int) -> np.ndarray:
        _, dtype = self.inputs[number]
        found = str(getattr(leaf, "dtype", type(leaf).__name__))
        if found != dtype:
            raise RunError(f"{self._name(number)} has dtype {found}, expected {dtype}; make it with jax.random.key")
        return np.asarray(jax.random.key_data(leaf)).view(np.int32)

    def _name(self, number: int) -> str:
        """Where a leaf stands: ``argument args[0]['w']``."""
        positional, named = jax.tree.unflatten(self.in_tree, range(len(self.inputs)))
        leaves, _ = jax.tree_util.tree_flatten_with_path({"args": positional, "kwargs": named})
        path = next(path for path, leaf in leaves if leaf == number)
        return f"argument {path[0].key}{jax.tree_util.keystr(path[1:])}"

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results as JAX arrays, nested as the function has them."""
        if not self._gives_its_own:
            results = [_as_jax_reads(*each) for each in zip(results, self.outputs, strict=True)]
        if self._avals is None or list(map(_SHAPE_OF, results)) != self._result_shapes:
            leaves = [_with_keys(*each) for each in zip(_transfer(list(results)), self.outputs, strict=True)]
            return jax.tree.unflatten(self.out_tree, leaves)
        sharding, devices = _default_place(jax.config.jax_default_device)
        if self._gives_one:
            return _put(self._avals[0], sharding, results, devices)
        pairs = zip(self._avals, results, strict=True)
        return self.out_tree.unflatten([_put(aval, sharding, [array], devices) for aval, array in pairs])

    @cached_property
    def _gives_one(self) -> bool:
        """True if the result is a leaf."""
        return self.out_tree == jax.tree.structure(0)

    @cached_property
    def _gives_its_own(self) -> bool:
        """True if all results have the elements of programs."""
        return all(_is_as_in_programs(dtype) for _, dtype in self.outputs)

    @cached_property
    def _avals(self) -> list[jax.core.ShapedArray] | None:
        """What JAX calls each result; None if any has elements of other bytes, or a size that arguments give."""
        avals = [
            jax.core.ShapedArray(tuple(size or 0 for size in shape), dtype)
            for shape, dtype in self.outputs
            if isinstance(dtype, np.dtype) and not is_of_few_bits(dtype) and None not in shape
        ]
        return avals if _put is not None and len(avals) == len(self.outputs) else None

    @cached_property
    def _result_shapes(self) -> list[Shape]:
        return [shape for shape, _ in self.outputs]

    def taken(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of the arguments, of any kind, that the program takes."""
        leaves = jax.tree.leaves((tuple(args), dict(kwargs)))
        return [leaves[number] for number in self.kept]

    def nested(self, results: Sequence[Any]) -> Any:
        """Results of any kind, nested as the function has them."""
        return jax.tree.unflatten(self.out_tree, results)

    @property
    def result_names(self) -> list[str]:
        """Where each result stands."""
        tree = jax.tree.unflatten(self.out_tree, range(len(self.outputs)))
        return [f"result{jax.tree_util.keystr(path)}" for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]


@dataclass(frozen=True)
class MeshCall(JaxCall):
    """Arguments and results of a function on a mesh of devices, which are replicas.

    Attributes:
        cut, cut_results: how each argument that the program takes, and each result, is cut over the replicas.
    """

    cut: tuple[Sharding, ...]
    cut_results: tuple[Sharding, ...]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        arrays = super().flatten(args, kwargs)
        return [cut.split(array) if cut.is_cut else array for cut, array in zip(self.cut, arrays, strict=True)]

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        each = zip(results, self.cut_results, self.outputs, strict=True)
        return super().unflatten([_whole(result, cut, dtype) for result, cut, (_, dtype) in each])


def _narrowed(value: Any, dtype: np.dtype[Any]) -> Any:
    """An array of 64 bits as one of ``dtype``, if that holds its integers; other values as they are."""
    if not isinstance(value, np.ndarray | np.generic) or not _is_wider(value.dtype, dtype):
        return value
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.asarray(value).astype(dtype)
    return found if dtype.kind in "fc" or np.array_equal(found, value) else value


def narrowed_leaves(given: Sequence[Any], inputs: Sequence[tuple[Shape, Any]]) -> frozenset[int]:
    """Numbers of the leaves in ``given`` that are arrays of 64 bits, where JAX takes ``inputs`` of 32."""
    types = [getattr(leaf, "dtype", None) for leaf in given]
    return frozenset(
        n for n, (found, (_, dtype)) in enumerate(zip(types, inputs, strict=True)) if _is_wider(found, dtype)
    )


def _is_wider(found: Any, traced: Any) -> bool:
    both = isinstance(found, np.dtype) and isinstance(traced, np.dtype)
    return both and found != traced and jax.dtypes.canonicalize_dtype(found) == traced


def _whole(result: np.ndarray, cut: Sharding, dtype: np.dtype[Any] | str) -> np.ndarray:
    """A result as JAX has it, of which replicas have given one each, or all the same."""
    is_pairs = isinstance(dtype, np.dtype) and dtype.kind == "c"
    is_of_each = result.ndim > len(cut.blocks) + is_pairs
    if cut.is_cut:
        return cut.join(result if is_of_each else np.stack([result] * len(cut.held)))
    return result[0] if is_of_each else result


@cache
def _default_place(device: Any) -> tuple[Any, list[Any]]:
    """The sharding and the devices of new arrays where ``jax_default_device`` is ``device``."""
    found = device if isinstance(device, jax.Device) else jax.local_devices(backend=device)[0]
    return jax.sharding.SingleDeviceSharding(found), [found]


@jax.jit
def _transfer(arrays: list[np.ndarray]) -> list[jax.Array]:
    """Hand many arrays to JAX in one jitted call, ten times as fast as ``jax.numpy.asarray`` of each."""
    return arrays  # type: ignore[return-value]


def _as_jax_reads(result: np.ndarray, wanted: tuple[Shape, np.dtype[Any] | str]) -> np.ndarray:
    """A result of the program with the element type of JAX; random keys as their numbers."""
    _, dtype = wanted
    if not isinstance(dtype, np.dtype):
        return result.view(np.uint32)
    if dtype.kind == "c":
        return np.ascontiguousarray(result).view(dtype)[..., 0]
    if is_of_few_bits(dtype):
        return result.astype(dtype)
    return result.view(dtype) if dtype.kind == "u" else result


def _is_as_in_programs(dtype: np.dtype[Any] | str) -> TypeGuard[np.dtype[Any]]:
    """True if programs have the elements of JAX in their own form."""
    return isinstance(dtype, np.dtype) and dtype.kind not in "cu" and not is_of_few_bits(dtype)


_FORM_OF, _SHAPE_OF = attrgetter("dtype", "shape"), attrgetter("shape")
_KEPT_BYTES = 4 << 20
_ARRAYS = frozenset((np.ndarray, _Array))
"""The types of arrays of NumPy and, where they have values, of JAX."""


def _with_keys(array: jax.Array, wanted: tuple[Shape, np.dtype[Any] | str]) -> jax.Array:
    _, dtype = wanted
    if isinstance(dtype, np.dtype):
        return array
    name = {"key<fry>": "threefry2x32", "key<rbg>": "rbg", "key<urbg>": "unsafe_rbg"}[dtype]
    return jax.random.wrap_key_data(array, impl=name)


def static_arguments(jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, Any]:
    """Those of a call of a jitted function that are part of its program, by position or name."""
    info = getattr(jitted, "_jit_info", None)
    if info is None:
        return {}
    found: dict[int | str, Any] = {number: args[number] for number in info.static_argnums if number < len(args)}
    return found | {name: kwargs[name] for name in info.static_argnames if name in kwargs}


def check_static(static: Mapping[int | str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Check that a call has the static arguments that its program was compiled for.

    Raises:
        RunError: one is another.
    """
    for key, value in static.items():
        found = kwargs.get(key, value) if isinstance(key, str) else args[key] if key < len(args) else value
        if found is not value and found != value:  # as JAX compares them
            raise RunError(f"static argument {key} is {found!r}, the program was compiled for {value!r}")


def without_static(args: Sequence[Any], kwargs: Mapping[str, Any], static: Mapping[int | str, Any]) -> Any:
    positional = tuple(each for number, each in enumerate(args) if number not in static)
    return positional, {name: each for name, each in kwargs.items() if name not in static}
