"""Embeddings whose table is too large to be cut by columns alone: forward, gradient and update."""

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

_ROWS, _COLUMNS = 600, 4
_TARGET = ipu.Target(tiles_per_ipu=16, bytes_per_tile=8800)  # by columns, 4,800 bytes on each of two tiles
_RNG = np.random.default_rng(3)
_TABLE = _RNG.standard_normal((_ROWS, _COLUMNS), dtype=np.float32)
_IDS = np.array([0, 599, 598, 599, 37, 100, 101, 24, 25, 300], np.int32)
_UPDATES = _RNG.integers(-8, 8, (len(_IDS), _COLUMNS)).astype(np.float32)
_OUTSIDE = np.array([-1, 600, 2**31 - 1, -(2**31), 5], np.int32)


def _clipped(table: jax.Array, ids: jax.Array) -> jax.Array:
    return table.at[ids].get(mode="clip")


def _filled(table: jax.Array, ids: jax.Array) -> jax.Array:
    return 2 * table.at[ids].get(mode="fill", fill_value=7.0)


def _two_tables(table: jax.Array, ids: jax.Array) -> jax.Array:
    return table[ids] + jnp.abs(table)[ids[::-1]]


def _along_columns(table: jax.Array, ids: jax.Array) -> jax.Array:
    return jnp.take(table.T, ids, axis=1, mode="clip")


def _slice(table: jax.Array, ids: jax.Array) -> jax.Array:
    return jax.lax.dynamic_slice(table, (ids[4], 0), (7, _COLUMNS))


def _between_points(table: jax.Array, ids: jax.Array) -> jax.Array:
    """Four elements for each point of a picture, as in bilinear sampling."""
    picture = table.reshape(40, 60)
    y, x = jnp.clip(ids, -1, 40), jnp.clip(ids[::-1], -1, 60)
    picks = [picture.at[y + i, x + j].get(mode="clip") for i in (0, 1) for j in (0, 1)]
    return picks[0] + 2 * picks[1] + 4 * picks[2] + 8 * picks[3]


@pytest.mark.parametrize("gather", [_between_points, _clipped, _filled, _two_tables, _along_columns, _slice])
@pytest.mark.parametrize("ids", [_IDS, _OUTSIDE], ids=["inside", "outside"])
def test_gather_from_a_large_table(gather: object, ids: np.ndarray) -> None:
    assert callable(gather)
    executable = ipu.compile(jax.jit(gather), args=[_TABLE, ids], target=_TARGET)
    (fast,), (per_tile,) = executable.run([_TABLE, ids]), executable.run_per_tile([_TABLE, ids])
    np.testing.assert_array_equal(fast, per_tile)
    np.testing.assert_allclose(fast, gather(jnp.array(_TABLE), jnp.array(ids)), rtol=1e-6)


def test_gather_shares_out_the_rows_of_the_table() -> None:
    def largest(rows: int) -> int:
        args = [jax.ShapeDtypeStruct((rows, 2), "float32"), jax.ShapeDtypeStruct((8,), "int32")]
        return (
            ipu.compile(jax.jit(lambda t, i: t[i]), args=args, target=_TARGET).profile().compilation.memory.worst_bytes
        )

    assert largest(8000) < 7000, "64,000 bytes are shared out among 16 tiles"


def test_points_of_a_picture_are_shared_out_among_tiles() -> None:
    """Four whole pictures beside the points would take more than a tile."""
    picture, y, x = np.zeros((256, 256), np.float32), np.zeros(20000, np.int32), np.zeros(20000, np.int32)

    def sampled(picture: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        return picture[y, x] + 2 * picture[y + 1, x] + 4 * picture[y, x + 1] + 8 * picture[y + 1, x + 1]

    compilation = ipu.compile(sampled, args=[picture, y, x]).profile().compilation
    assert compilation.memory.worst_bytes < picture.nbytes


@pytest.mark.parametrize("start", [5, 4090, -3])
def test_a_slice_of_what_takes_a_quarter_of_the_memory_of_all_tiles(start: int) -> None:
    x = np.arange(4096, dtype=np.float32)
    executable = ipu.compile(lambda x, i: ipu.dynamic_slice(x, (i,), (9,)), args=[x, np.int32(0)], target=_TARGET)
    begin = min(start % 4096, 4096 - 9)
    np.testing.assert_array_equal(executable(x, np.int32(start)), x[begin : begin + 9])


def test_update_of_a_large_table_holds_it_once() -> None:
    table = ipu.Variable(_TABLE, name="table")

    def step(ids: np.ndarray, updates: np.ndarray) -> np.ndarray:
        rows = table.value[ids]
        table.assign(table.value.at[ids].add(updates))
        return rows

    executable = ipu.compile(step, args=[_IDS, _UPDATES], target=_TARGET)
    assert executable.profile().compilation.memory.worst_bytes < 5 * _TABLE.nbytes // 8
    expected = _TABLE.copy()
    np.add.at(expected, _IDS, _UPDATES)
    (first,), (second,) = executable.run([_IDS, _UPDATES]), executable.run_per_tile([_IDS, _UPDATES])
    (third,) = executable.run([_IDS, 0 * _UPDATES])
    np.testing.assert_array_equal(first, _TABLE[_IDS])
    np.testing.assert_allclose(second, expected[_IDS], rtol=1e-6)
    np.testing.assert_allclose(third, 2 * expected[_IDS] - _TABLE[_IDS], rtol=1e-5)
