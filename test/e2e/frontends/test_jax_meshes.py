"""Functions of JAX on meshes of devices: ``pmap``, ``shard_map``, and jit with shardings, each device a replica."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
jnp = jax.numpy
P = jax.sharding.PartitionSpec

FOUR = jax.sharding.AbstractMesh((4,), ("i",))
TWO_BY_TWO = jax.sharding.AbstractMesh((2, 2), ("a", "b"))
SMALL = ipu.Target(tiles_per_ipu=4)
STEPS, EACH = 3, 8


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def of_vmap(function: Any, x: np.ndarray) -> Any:
    """The same of JAX alone: replicas as a batch."""
    blocks = x.reshape(4, -1, *x.shape[1:])
    return jax.tree.map(lambda y: y.reshape(-1, *y.shape[2:]), jax.vmap(function, axis_name="i")(blocks))


COLLECTIVES = {
    "psum": lambda x: jax.lax.psum(x, "i"),
    "pmean": lambda x: jax.lax.pmean(x, "i"),
    "pmax": lambda x: jax.lax.pmax(x, "i"),
    "pmin of unsigned": lambda x: jax.lax.pmin((x * 10 + 30).astype(np.uint8), "i"),
    "any": lambda x: jax.lax.pmax((x > 0).astype(np.int32), "i"),
    "axis_index": lambda x: x + jax.lax.axis_index("i"),
    "all_gather": lambda x: jax.lax.all_gather(x, "i", axis=1),
    "psum_scatter": lambda x: jax.lax.psum_scatter(jnp.tile(x, (4, 1)), "i", tiled=True),
    "all_to_all": lambda x: jax.lax.all_to_all(jnp.tile(x, (4, 1)), "i", 0, 1, tiled=True),
    "ppermute": lambda x: jax.lax.ppermute(x, "i", [(0, 1), (1, 3), (3, 2), (2, 0)]),
    "complex": lambda x: jax.lax.psum(x + 1j * x, "i"),
}


def test_collectives_of_shard_map() -> None:
    def body(x: Any) -> Any:
        return {name: collective(x) for name, collective in COLLECTIVES.items()}

    x = values(8, 3)
    mapped = jax.jit(jax.shard_map(body, mesh=FOUR, in_specs=P("i"), out_specs=P("i")))
    got, wanted = ipu.compile(mapped, args=[x], target=SMALL)(x), of_vmap(body, x)
    for name in COLLECTIVES:
        assert got[name].shape == wanted[name].shape, name
        assert got[name].dtype == wanted[name].dtype, name
        np.testing.assert_allclose(got[name], wanted[name], rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("axis", ["a", "b"])
def test_collectives_along_one_axis_of_two(axis: str) -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)

    def body(x: Any) -> Any:
        return (
            jax.lax.psum(x, axis),
            jax.lax.all_gather(x, axis, axis=1, tiled=True),
            jax.lax.psum_scatter(x, axis, tiled=True),
            jax.lax.all_to_all(x, axis, 0, 1, tiled=True),
        )

    mapped = jax.shard_map(body, mesh=TWO_BY_TWO, in_specs=P("a", "b"), out_specs=P("a", "b"))
    got = ipu.compile(jax.jit(mapped), args=[x], target=SMALL)(x)
    blocks = x.reshape(2, 2, 2, 1).swapaxes(1, 2)  # by place in the mesh: rows a, columns b
    wanted = jax.vmap(jax.vmap(body, axis_name="b"), axis_name="a")(blocks)
    for mine, theirs in zip(got, wanted, strict=True):
        (a, b, rows, columns) = theirs.shape
        np.testing.assert_array_equal(mine, np.swapaxes(theirs, 1, 2).reshape(a * rows, b * columns))


def test_jit_with_shardings_is_cut_over_replicas() -> None:
    def spread(*axes: str | None) -> Any:
        return jax.sharding.NamedSharding(TWO_BY_TWO, P(*axes))

    @partial(jax.jit, in_shardings=(spread(None, "b"), spread("a")), out_shardings=(spread(), spread("a", "b")))
    def layer(w: Any, x: Any) -> Any:
        y = jnp.tanh(x @ w)
        return (y * y).mean(), y

    w, x = jnp.asarray(values(3, 4)), jnp.asarray(values(8, 3))
    exe = ipu.compile(layer, args=[w, x], target=SMALL)
    assert "replicas = 4" in exe.mlir("l1")
    assert "tensor<4x3xf32>" in exe.mlir("l0"), "each replica has half of the rows"
    assert "ipu.all_reduce" in exe.mlir("l0")
    loss, y = exe(w, x)
    np.testing.assert_allclose(loss, np.mean(np.tanh(x @ w) ** 2), rtol=1e-6)
    np.testing.assert_allclose(y, np.tanh(x @ w), rtol=1e-6)


def test_pmap_takes_axes_names_and_static_arguments() -> None:
    mapped = jax.pmap(
        lambda power, x, w, *, b: {"y": (x**power) @ w + b, "w": w},
        in_axes=(None, 1, None),
        out_axes={"y": 1, "w": None},
        static_broadcasted_argnums=0,
    )
    x, w, b = values(3, 4, 2), values(2, 5), values(4, 5)
    got = ipu.compile(mapped, args=[2, x, w], kwargs={"b": b}, target=SMALL)(2, x, w, b=b)
    np.testing.assert_allclose(got["y"], (x**2) @ w + b, rtol=1e-5)
    np.testing.assert_array_equal(got["w"], w)


def test_pmap_of_one_device_has_its_collectives_in_a_function() -> None:
    w, x = values(3, 2), values(1, 4, 3)
    found = ipu.compile(jax.pmap(lambda x: jax.lax.pmean(x @ w, "i"), axis_name="i"), args=[x], target=SMALL)(x)
    np.testing.assert_allclose(found, x @ w, rtol=1e-5)


def test_a_mesh_needs_a_target_of_as_many_replicas() -> None:
    x = values(8, 3)
    mapped = jax.jit(jax.shard_map(COLLECTIVES["psum"], mesh=FOUR, in_specs=P("i"), out_specs=P("i")))
    with pytest.raises(ipu.TargetError, match=r"runs on 4 devices, each a replica, and the target has 2 replicas"):
        ipu.compile(mapped, args=[x], target=ipu.Target(replicas=2))


def gradients(params: Any, images: Any, labels: Any, nn: Any) -> Any:
    w1, b1, w2, b2 = params
    hidden = nn.relu(images @ w1 + b1)
    slope = (nn.softmax(hidden @ w2 + b2) - labels) / np.float32(4 * EACH)
    hidden_slope = slope @ w2.T * (hidden > 0)
    return images.T @ hidden_slope, hidden_slope.sum(0), hidden.T @ slope, slope.sum(0)


def digits() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Batches of images and of what they are, by step and replica; and weights to begin with."""
    with np.load(Path(__file__).parents[3] / "examples/digits/digits.npz") as data:
        count = STEPS * 4 * EACH
        images = (data["images"].reshape(-1, 64) / 16).astype(np.float32)[:count]
        labels = np.eye(10, dtype=np.float32)[data["labels"][:count]]
    rng = np.random.default_rng(1)
    params = [rng.normal(0, 0.1, shape).astype(np.float32) for shape in ((64, 16), (16,), (16, 10), (10,))]
    return images.reshape(STEPS, 4, EACH, 64), labels.reshape(STEPS, 4, EACH, 10), params


def test_training_on_digits_is_that_of_four_replicas_bit_for_bit() -> None:
    images, labels, begin = digits()

    def in_jax(params: Any, x: Any, y: Any) -> Any:
        slopes = jax.lax.psum(gradients(params, x, y, jax.nn), "i")
        return [p - 0.5 * slope for p, slope in zip(params, slopes, strict=True)]

    def in_ours(params: Any, x: Any, y: Any) -> Any:
        slopes = ipu.all_reduce(gradients(params, x, y, ipu.nn))
        return [p - 0.5 * slope for p, slope in zip(params, slopes, strict=True)]

    ours = ipu.compile(
        in_ours,
        args=[begin, ipu.per_replica(images[0, 0]), ipu.per_replica(labels[0, 0])],
        target=ipu.Target(tiles_per_ipu=4, replicas=4),
    )
    pmapped = jax.pmap(in_jax, axis_name="i", in_axes=(None, 0, 0), out_axes=None)
    pmapped = ipu.compile(pmapped, args=[begin, images[0], labels[0]], target=SMALL)
    mapped = jax.shard_map(in_jax, mesh=FOUR, in_specs=(P(), P("i"), P("i")), out_specs=P())
    flat_images, flat_labels = images.reshape(STEPS, -1, 64), labels.reshape(STEPS, -1, 10)
    mapped = ipu.compile(jax.jit(mapped), args=[begin, flat_images[0], flat_labels[0]], target=SMALL)

    wanted, by_pmap, by_shard_map = begin, begin, begin
    for step in range(STEPS):
        wanted = ours(wanted, images[step], labels[step])
        by_pmap = pmapped(by_pmap, images[step], labels[step])
        by_shard_map = mapped(by_shard_map, flat_images[step], flat_labels[step])
    assert max(np.abs(p - q).max() for p, q in zip(wanted, begin, strict=True)) > 0.01, "it learns"
    for mine, one, other in zip(wanted, by_pmap, by_shard_map, strict=True):
        np.testing.assert_array_equal(mine, one)
        np.testing.assert_array_equal(mine, other)
