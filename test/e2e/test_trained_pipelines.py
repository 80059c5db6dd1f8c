"""Networks that train as pipelines have the weights of networks that train on one IPU, whatever the schedule.

A few steps are in f32. Hundreds of them are in f64: another order of the same sums in f32 leads to other weights then.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.trained_networks import Array, Network, Training, convolutional, digits, encoder

from ipu_mlir.dialects.analysis.pipelines import RECOMPUTE, SCHEDULES

DIGITS, HELD_BACK = digits()
NETWORKS = {"digits": DIGITS, "convolutional": convolutional(), "encoder": encoder()}
WAYS = [(stages, schedule, recompute) for stages in (2, 4) for schedule in SCHEDULES for recompute in RECOMPUTE]
CLOSE: dict[str, Any] = {"rtol": 0, "atol": 1e-6}


@cache
def on_one_ipu(name: str, steps: int, dtype: Any) -> tuple[list[float], list[Array], float]:
    """The losses of so many steps, and the weights after them, and how many images held back these get right."""
    training = Training(replace(NETWORKS[name], dtype=dtype))
    losses = training.run(steps)
    return losses, list(training.weights()), accuracy(training) if name == "digits" else 0


def check(
    name: str, steps: int, stages: int, schedule: str, recompute: str, replicas: int = 1, dtype: Any = np.float32
) -> None:
    """Compare losses and weights."""
    network = replace(NETWORKS[name], dtype=dtype).in_stages(stages)
    training = Training(network, network.pipeline(schedule, recompute), replicas)
    losses, weights, _ = on_one_ipu(name, steps, dtype)
    np.testing.assert_allclose(training.run(steps), losses, **CLOSE)
    for found, wanted in zip(training.weights(), weights, strict=True):
        np.testing.assert_allclose(found, wanted, **CLOSE)


def accuracy(training: Training) -> float:
    """The share of the images held back whose class the weights find."""
    images, labels = HELD_BACK
    scores = training.network.scores(training.parameters(), images)
    return float((np.argmax(scores, axis=-1) == labels).mean())


@pytest.mark.parametrize(
    ("name", "stages", "schedule", "recompute", "replicas"),
    [
        ("digits", 2, "grouped", "none", 2),
        pytest.param("convolutional", 2, "sequential", "inputs", 1, marks=pytest.mark.slow),
    ],
)
def test_a_few_steps(name, stages, schedule, recompute, replicas):
    check(name, 3, stages, schedule, recompute, replicas)


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("name", ["convolutional", "encoder"])
@pytest.mark.parametrize(("stages", "schedule", "recompute"), WAYS)
def test_twenty_steps(name, stages, schedule, recompute, replicas):
    check(name, 20, stages, schedule, recompute, replicas)


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(("stages", "schedule", "recompute"), WAYS)
def test_fifteen_epochs(stages, schedule, recompute, replicas):
    steps = 15 * len(DIGITS.batches[0])
    assert on_one_ipu("digits", steps, np.float64)[-1] >= 0.95
    check("digits", steps, stages, schedule, recompute, replicas, np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("stages", "schedule", "recompute"), WAYS)
def test_steps_on_the_per_tile_executor(stages, schedule, recompute, name):
    network: Network = replace(NETWORKS[name], dtype=np.float32).in_stages(stages)
    training = Training(network, network.pipeline(schedule, recompute))
    losses, _, _ = on_one_ipu(name, 2, np.float32)
    for number, wanted in enumerate(losses):
        np.testing.assert_allclose(training.exe.run_per_tile(training.inputs(number))[0], wanted, **CLOSE)
