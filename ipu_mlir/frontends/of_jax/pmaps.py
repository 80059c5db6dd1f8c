"""``jax.pmap`` without its devices: the same function under ``jax.shard_map`` on an abstract mesh."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax.api_util import flatten_axes
from jax.sharding import AbstractMesh, PartitionSpec

from ipu_mlir.dialects.support.errors import CompileError

_TAKEN = ("axis_name", "in_axes", "out_axes_flat", "out_axes_tree", "static_broadcasted_tuple")


def is_pmap(source: Any) -> bool:
    """True if ``jax.pmap`` made ``source``."""
    return getattr(getattr(source, "lower", None), "__qualname__", "") == "pmap.<locals>.lower"


def as_jitted(pmapped: Any) -> Any:
    """A jitted function that computes the same, on as many devices as the mapped axis of its arguments is long.

    Raises:
        CompileError: this version of JAX keeps elsewhere what ``jax.pmap`` was given.
    """
    given = _given(pmapped)
    function: Callable[..., Any] = pmapped.__wrapped__
    name, static = given["axis_name"], given["static_broadcasted_tuple"]
    out_axes = jax.tree.unflatten(given["out_axes_tree"], given["out_axes_flat"])
    results = jax.tree.map(lambda axis: _spec(axis, name), out_axes, is_leaf=lambda axis: axis is None)

    def on_mesh(*args: Any, **kwargs: Any) -> Any:
        mapped = [place for place in range(len(args)) if place not in static]
        axes = given["in_axes"]
        axes = tuple(axes[place] for place in mapped) if isinstance(axes, tuple) else axes
        leaves, tree = jax.tree.flatten(tuple(args[place] for place in mapped))
        named, named_tree = jax.tree.flatten(kwargs)
        of_leaf = [*flatten_axes("pmap in_axes", tree, axes), *[0] * len(named)]
        leaves = [*leaves, *named]
        sizes = {leaf.shape[axis] for leaf, axis in zip(leaves, of_leaf, strict=True) if axis is not None}
        if len(sizes) != 1:
            raise CompileError(f"jax.pmap maps over one axis, its arguments have the sizes {sorted(sizes)} there")

        def on_device(*parts: Any) -> Any:
            own = [_without(part, axis) for part, axis in zip(parts, of_leaf, strict=True)]
            whole = list(args)
            for place, each in zip(mapped, jax.tree.unflatten(tree, own[: tree.num_leaves]), strict=True):
                whole[place] = each
            found = function(*whole, **jax.tree.unflatten(named_tree, own[tree.num_leaves :]))
            places = flatten_axes("pmap out_axes", jax.tree.structure(found), out_axes)
            flat, structure = jax.tree.flatten(found)
            return jax.tree.unflatten(structure, [_with(*each) for each in zip(flat, places, strict=True)])

        mesh = AbstractMesh((sizes.pop(),), (name,))
        specs = tuple(_spec(axis, name) for axis in of_leaf)
        mapped_function = jax.shard_map(on_device, mesh=mesh, in_specs=specs, out_specs=results, check_vma=False)
        return mapped_function(*leaves)

    on_mesh.__name__ = getattr(function, "__name__", "pmap")
    return jax.jit(on_mesh, static_argnums=static)


def _given(pmapped: Any) -> Mapping[str, Any]:
    """What ``jax.pmap`` was called with."""
    infer = inspect.getclosurevars(pmapped.lower).nonlocals.get("infer_params")
    found = inspect.getclosurevars(infer).nonlocals if inspect.isfunction(infer) else {}
    missing = [name for name in _TAKEN if name not in found]
    if missing:
        raise CompileError(
            f"jax.pmap of JAX {jax.__version__} does not say its {missing[0]}; use jax.shard_map on a "
            "jax.sharding.AbstractMesh"
        )
    return found


def _spec(axis: int | None, name: Any) -> PartitionSpec:
    return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, name)


def _without(part: Any, axis: int | None) -> Any:
    return part if axis is None else jax.lax.squeeze(part, [axis])


def _with(part: Any, axis: int | None) -> Any:
    return part if axis is None else jax.numpy.expand_dims(part, axis)
