"""Values of some iterations ago, on both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)


@pytest.mark.parametrize("offload", [False, True])
@pytest.mark.parametrize("depth, shape", [(-1, (3,)), (0, (2, 5)), (1, ()), (2, (3,)), (5, (2, 5))])
def test_as_in_a_list(depth, shape, offload):
    """In a loop, with another one beside it, over two runs of which the second goes on from the first."""

    def main(x):
        def body(i, carried):
            x = carried[0]
            late = ipu.fifo(x, depth, offload=offload)
            return x + 1, late, ipu.fifo(late, 1)

        return ipu.fori_loop(0, 4, body, (x, x, x))[1:]

    exe = ipu.compile(main, args=(np.ones(shape, np.float16),), target=TARGET)
    session, given, delayed = exe.session(), [], []
    for start in (1, 10):
        x = np.full(shape, start, np.float16)
        for value in range(start, start + 4):
            given.append(value)
            delayed.append(given[-1 - max(depth, 0)] if len(given) > max(depth, 0) else 0)
        for found in (session(x), exe.run_per_tile([x])):
            np.testing.assert_array_equal(found[0], np.full(shape, delayed[-1]))
            np.testing.assert_array_equal(found[1], np.full(shape, delayed[-2]))


def test_the_ring_is_written_in_place():
    source = ipu.compile(
        lambda x: ipu.fifo(x, 100), args=(np.ones(8, np.float32),), target=TARGET, kernels="never"
    ).source()
    assert "fifo_0[alloc_col] = arg0" in source and "(100, 8)" not in source, source


def test_each_place_has_values_of_its_own_which_are_state_of_the_session(tmp_path):
    exe = ipu.compile(lambda x: (ipu.fifo(x, 1), ipu.fifo(x + 1, 1)), args=(np.float32(0),), target=TARGET)
    session, other = exe.session(), exe.session()
    session(np.float32(5))
    session.save(tmp_path / "state.npz")
    other.load(tmp_path / "state.npz")
    assert [float(each) for each in other(np.float32(0))] == [5, 6]


def test_refused():
    with pytest.raises(TypeError, match="takes a traced tensor, got ndarray; call it inside"):
        ipu.fifo(np.ones(3), 1)
    with pytest.raises(ValueError, match=r"float32\[0, 2\]: a tensor without elements has nothing to remember"):
        ipu.function(lambda x: ipu.fifo(x, 1)).trace(np.zeros((0, 2), np.float32))
    with pytest.raises(TypeError, match=r"has a depth of 1\.5; it is an integer"):
        ipu.function(lambda x: ipu.fifo(x, 1.5)).trace(np.ones(3, np.float32))
