"""``ipu.random``: keys give one array each, on the host and in programs, and generators go on."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import random
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

KEY = random.key(2**40 + 7)


def drawn(key):
    return (
        random.bits(key, (3, 5)),
        random.uniform(key, 7, -1.0, 3.0),
        random.normal(random.fold_in(key, 5), (4, 2), 2.0, 0.5),
        random.truncated_normal(key, (9,), np.float16),
        random.bernoulli(key, 0.3, (11,)),
        random.integers(key, -3, 4, (20,)),
        random.permutation(key, 9),
        random.permutation(key, np.arange(14, dtype=np.float32).reshape(7, 2)),
        random.categorical(key, np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)),
        random.split(key, 3),
        random.normal(key),
    )


def test_programs_draw_as_the_host_does():
    wanted = drawn(KEY)
    exe = ipu.compile(drawn, args=[KEY], target=ipu.Target(tiles_per_ipu=4))
    for found in (exe(KEY), PerTileExecutor(exe.module()).run([KEY])):
        for one, other in zip(found, wanted, strict=True):
            assert (np.shape(one), one.dtype) == (np.shape(other), other.dtype)
            np.testing.assert_allclose(one.astype(np.float64), other.astype(np.float64), rtol=1e-6)


def test_folded_and_split_keys_are_all_different():
    keys = [KEY, *(random.fold_in(KEY, number) for number in range(-2, 20)), *random.split(KEY, 20)]
    assert len({tuple(each) for each in keys}) == len(keys)
    np.testing.assert_array_equal(random.fold_in(KEY, -1), random.fold_in(KEY, np.int32(-1)))
    streams = [random.uniform(each, 20_000) - 0.5 for each in keys[:8]]
    products = np.abs(np.array(streams) @ np.array(streams).T / 20_000)[~np.eye(8, dtype=bool)]
    assert products.max() < 5 / 12 / np.sqrt(20_000)


def test_orders_have_each_row_once_and_places_their_probabilities():
    assert sorted(random.permutation(KEY, 50)) == list(range(50))
    assert not np.array_equal(random.permutation(KEY, 50), random.permutation(random.key(1), 50))
    shares = np.array([0.1, 0.2, 0.7], np.float32)
    found = random.categorical(KEY, np.broadcast_to(np.log(shares), (20_000, 3)))
    np.testing.assert_allclose(np.bincount(found) / 20_000, shares, atol=0.015)
    assert (random.categorical(KEY, np.array([[-np.inf, 0], [0, -np.inf]], np.float32)) == [1, 0]).all()


def test_integers_are_equally_likely():
    found = random.integers(KEY, 5, 12, 70_000)
    counts = np.bincount(found - 5, minlength=7)
    assert len(counts) == 7 and np.sum((counts - 10_000) ** 2) / 10_000 < 25


def test_dropout_has_one_mask_forward_and_backward():
    x = np.ones((40, 50), np.float32)

    def loss(x, key):
        return np.sum(random.dropout(key, x, 0.25) ** 2) / 2

    found = ipu.compile(ipu.grad(loss), args=[x, KEY], target=ipu.Target(tiles_per_ipu=4))(x, KEY)
    mask = random.dropout(KEY, x, 0.25)
    np.testing.assert_allclose(found, mask / np.float32(0.75), rtol=1e-6)
    assert abs(np.mean(mask == 0) - 0.25) < 0.05
    rows = random.dropout(KEY, x, 0.5, (40, 1))
    assert set(rows.sum(1)) == {0.0, 100.0}


def test_a_network_trains_to_the_same_weights_with_masks_stored_and_drawn_again():
    numbers = np.random.default_rng(0)
    x, y = numbers.standard_normal((64, 8)).astype(np.float32), numbers.standard_normal((64, 1)).astype(np.float32)
    shapes = ((8, 32), (32, 32), (32, 1))
    start = tuple(numbers.standard_normal(shape).astype(np.float32) / 4 for shape in shapes)

    def drawn_again(key, hidden):
        return random.dropout(key, hidden, 0.5)

    @ipu.custom_vjp
    def stored(key, hidden):
        return random.dropout(key, hidden, 0.5)

    def forward(key, hidden):
        mask = random.dropout(key, np.ones_like(hidden), 0.5)
        return mask * hidden, mask

    stored.defvjp(forward, lambda mask, slope: (np.zeros(4, np.int32), slope * mask))

    def trained(dropout):
        def step(number, weights):
            def loss(now):
                hidden = dropout(random.fold_in(KEY, number), np.maximum(x @ now[0], 0))
                hidden = dropout(random.fold_in(KEY, number + 20), np.maximum(hidden @ now[1], 0))
                return np.mean((hidden @ now[2] - y) ** 2)

            slopes = ipu.grad(loss)(weights)
            return tuple(w - np.float32(0.05) * g for w, g in zip(weights, slopes, strict=True))

        program = ipu.compile(
            lambda *now: ipu.fori_loop(0, 20, step, now), args=start, target=ipu.Target(tiles_per_ipu=4)
        )
        return program, program(*start)

    programs, weights = zip(*map(trained, (drawn_again, stored)), strict=True)
    for one, other, first in zip(*weights, start, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert np.abs(one - first).max() > 0.01
    calls = [program.mlir("l1").count("call @") for program in programs]
    assert calls == [4, 2], "one code draws the masks of the forward pass, and once more for the gradient"
    less, more = (program.profile().tile_bytes().max() for program in programs)
    assert more - less > 0.9 * 2 * (64 * 32 * 4 / 4), "two masks of 64 x 32 numbers on four tiles"


def test_generators_go_on_and_begin_anew():
    generator = random.Generator(3, name="noise")

    @ipu.function
    def step():
        return random.normal(generator.next_key(), 4), random.normal(generator.next_key(), 4)

    first, second = step(), step()
    assert len({float(each[0]) for each in (*first, *second)}) == 4
    reset = ipu.function(lambda: generator.state.assign(random.key(3)))
    reset()
    np.testing.assert_array_equal(step()[0], first[0])
    np.testing.assert_array_equal(first[0], random.normal(random.key(3), 4))


def test_replicas_draw_alike_or_each_its_own():
    def numbers(identical):
        generator = random.Generator(3, identical=identical)

        @ipu.function(target=ipu.Target(tiles_per_ipu=2, replicas=2))
        def step():
            return ipu.all_gather(random.uniform(generator.next_key(), 5), group=2)

        return step()

    alike, own = numbers(True), numbers(False)
    np.testing.assert_array_equal(alike[0], alike[1])
    assert not np.array_equal(own[0], own[1])


def test_later_draws_repeat_no_number_of_replicas_or_of_folded_keys():
    own, shared = random.Generator(3, identical=False), random.Generator(4)

    @ipu.function(target=ipu.Target(tiles_per_ipu=2, replicas=3))
    def step():
        key = shared.next_key()
        folded = [random.uniform(random.fold_in(key, place), 2) for place in range(3)]
        return ipu.all_gather(random.uniform(own.next_key(), 2), group=3), folded

    found = np.concatenate([np.ravel(each) for _ in range(3) for each in step()])
    assert len(found) == len(np.unique(found)) == 36


def test_what_does_not_fit_is_refused():
    with pytest.raises(TypeError, match=r"random.key\(1.5\): a seed is an integer"):
        random.key(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"random.normal takes a key of four int32, .* got int64 of shape \(2,\)"):
        random.normal(np.zeros(2, np.int64))
    with pytest.raises(TypeError, match=r"random.uniform draws floats, got dtype int32"):
        random.uniform(KEY, 3, dtype=np.int32)
    with pytest.raises(ValueError, match=r"random.integers from 3 to 3"):
        random.integers(KEY, 3, 3)
    with pytest.raises(ValueError, match=r"random.dropout with rate 1: it is"):
        random.dropout(KEY, np.ones(3), 1)
    with pytest.raises(ValueError, match=r"random.dropout with noise_shape \(2,\)"):
        random.dropout(KEY, np.ones(3), 0.5, (2,))


def test_uniform_numbers_of_few_bits_stay_below_1():
    found = random.uniform(KEY, 100_000, dtype=np.float16)
    assert found.max() < 1 and found.min() == 0
