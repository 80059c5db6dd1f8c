"""Loops of little work are one vertex: started once, with one sync, on both executors as NumPy has it."""

import numpy as np

import ipu_mlir as ipu


def _filter(x: ipu.Tensor) -> ipu.Tensor:
    return ipu.fori_loop(0, 100, lambda _, value: value * 0.5 + x[1], x[0] * 0.0)


def test_a_recurrence_starts_once() -> None:
    compiled = ipu.compile(_filter, args=(ipu.TensorSpec((2,)),))
    assert "ipu.one_vertex" in compiled.mlir("l3")
    profile = compiled.profile()
    rounds = [step for step in profile.execution.steps if step.count == 100]
    assert rounds and all(step.sync == 0 and step.compute < 100 for step in rounds)
    x = np.array([1.0, 2.0], np.float32)
    for found in (compiled(x), compiled.run_per_tile([x])[0]):
        np.testing.assert_allclose(found, 4.0, rtol=1e-6)
