"""Functions of the host: what they get and give, of several replicas too."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.host_functions import HostFunction
from ipu_mlir.runtime.translator.translation import ArraySpec, Stream

TAKEN = (ArraySpec("tensor 0 of 'f'", (2,), np.dtype(np.float32)),)
GIVEN = (ArraySpec("tensor 0 of 'f'", (), np.dtype(np.int32)),)


def function_of(call, replicas=1):
    return HostFunction(Stream("f", "host_function", TAKEN, 1, "all", replicas, GIVEN), call)


def test_each_replica_has_a_call_of_its_own():
    seen = []
    function = function_of(lambda x: (seen.append(x), np.int32(x.sum()))[1], replicas=2)
    function.put(0, np.float32([[1, 2], [3, 4]]))
    function.call()
    out = np.zeros((2,), np.int32)
    function.hand_out(0, out)
    assert out.tolist() == [3, 7]
    function.put(0, np.float32([5, 5]))  # one for all
    function.call()
    assert [each.tolist() for each in seen] == [[1, 2], [3, 4], [5, 5], [5, 5]], "arguments are copies"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (None, r"host function 'f' has no function; give it one with session.serve\('f', ...\)"),
        (lambda x: [x, x], "what host function 'f' gives has 2 tensors, expected 1"),
        (lambda x: None, "what host function 'f' gives has 0 tensors, expected 1"),
        (lambda x: np.zeros(3, np.int32), r"tensor 0 of 'f', what host function 'f' gives,.*\(3,\)"),
    ],
)
def test_what_it_gives_is_what_the_program_takes(call, message):
    function = function_of(call)
    function.put(0, np.zeros(2))
    with pytest.raises(RunError, match=message):
        function.call()


def test_without_the_host_it_gives_zeros():
    function = function_of(lambda x: pytest.fail("called")).synthetic()
    function.call()
    out = np.ones((), np.int32)
    function.hand_out(0, out)
    assert out == 0
