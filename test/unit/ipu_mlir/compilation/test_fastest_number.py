"""Programs without shards take the number of IPUs on which they are fastest when they are compiled."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation.variants import Variants
from ipu_mlir.passes.placement.partition.partition import Partition


def specs(*shapes):
    return tuple(ipu.TensorSpec(shape) for shape in shapes)


def on(ipus):
    return ipu.Target(ipus=ipus, tiles_per_ipu=32)


def updates(*tensors):
    half = len(tensors) // 2
    return tuple(w - np.float32(0.1) * g for w, g in zip(tensors[:half], tensors[half:], strict=True))


def convolutions(x, *filters):
    for each in filters:
        x = ipu.nn.relu(ipu.nn.convolution(x, each, padding="same"))
    return x


def network(x, *weights):
    for each in weights:
        x = ipu.nn.relu(x @ each)
    return x


PROGRAMS = {
    "small updates": (updates, specs((96,), (64, 64), (512,)) * 2),
    "padded convolutions": (convolutions, specs((8, 14, 14, 16), (3, 3, 16, 16), (3, 3, 16, 16))),
    "network": (network, specs((256, 128), (128, 256), (256, 64))),
    "columns summed": (lambda x: np.sum(x, axis=0), specs((4096, 64))),
}


def cycles(exe):
    return without_host(exe.profile())


def without_host(profile):
    return profile.total_cycles - profile.execution.cycles.host


@pytest.mark.parametrize("name", PROGRAMS)
def test_more_ipus_are_never_slower(name):
    function, args = PROGRAMS[name]
    found = [cycles(ipu.compile(function, args=args, target=on(ipus))) for ipus in (1, 2, 3, 4)]
    assert found == sorted(found, reverse=True)


def test_a_large_program_takes_several_and_a_small_one_takes_one():
    function, args = PROGRAMS["network"]
    assert _busy(ipu.compile(function, args=args, target=on(4))) > 1
    few = ipu.compile(updates, args=PROGRAMS["small updates"][1], target=on(4))
    assert _busy(few) == 1


def _busy(exe):
    return sum(each.compute > 0 for each in exe.profile().execution.ipus)


def test_levels_show_the_program_that_runs():
    function, args = PROGRAMS["network"]
    exe = ipu.compile(function, args=args, target=on(4))
    assert all("ipus = 4" in exe.mlir(level) for level in ("l2", "l3"))
    assert cycles(ipu.compile(exe.mlir("l2"))) == cycles(exe)


def test_values_are_those_of_one_ipu():
    function, args = PROGRAMS["padded convolutions"]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(each.shape).astype(np.float32) for each in args]
    one, three = (ipu.compile(function, args=arrays, target=on(ipus))(*arrays) for ipus in (1, 3))
    np.testing.assert_allclose(three, one, rtol=1e-5, atol=1e-5)


def test_a_sweep_gives_the_figures_of_an_executable():
    function, args = PROGRAMS["small updates"]
    exe = ipu.compile(function, args=args, target=on(4))
    profile = Variants(exe.module("l0")).profile(on(4), Partition())
    assert profile.total_cycles == exe.profile().total_cycles


def test_a_number_of_ipus_may_be_given():
    function, args = PROGRAMS["small updates"]
    text = str(ipu.function(function).trace(*args))
    one, two = (Variants(text).profile(on(2), Partition(ipus=ipus)) for ipus in (1, 2))
    assert {each.compute > 0 for each in two.execution.ipus} == {True}
    assert [each.compute > 0 for each in one.execution.ipus] == [True, False]
    assert without_host(one) < without_host(two)
