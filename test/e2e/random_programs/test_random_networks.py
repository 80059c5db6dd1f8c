"""Random networks of JAX, PyTorch and TensorFlow, with gradients: kernels in blocks and threads, NumPy, frameworks.

``IPU_RANDOM_NETWORKS`` says how many the long test draws (100 without it), ``IPU_RANDOM_SEED`` from which seed on;
``python test/e2e/support/networks/campaign.py`` draws any number, and makes those smaller that fail.
"""

import importlib.util
import os

import pytest
from support.networks.compare import difference, problem
from support.networks.draw import draw_network, output_shape
from support.networks.frameworks import FRAMEWORKS
from support.networks.parameters import input_of, parameters_of

FEW = {"jax": range(6), "torch": range(100, 102), "tensorflow": range(200, 202)}
MANY = int(os.environ.get("IPU_RANDOM_NETWORKS", "100"))
SEED = int(os.environ.get("IPU_RANDOM_SEED", "0"))


@pytest.fixture(params=FRAMEWORKS)
def framework(request) -> str:
    """Each that is installed."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"needs {request.param}")
    return request.param


def test_networks_agree(framework: str):
    found = {seed: problem(draw_network(seed), seed, framework) for seed in FEW[framework]}
    assert found == dict.fromkeys(FEW[framework], "")


@pytest.mark.slow
def test_many_networks_agree(framework: str):
    failed = {}
    for seed in range(SEED, SEED + MANY // (1 if framework == "jax" else 10)):
        if said := problem(draw_network(seed), seed, framework):
            failed[seed] = said
    assert not failed


def test_frameworks_say_the_same_of_a_network():
    for each in FRAMEWORKS:
        pytest.importorskip(each)
    for seed in range(6):
        network = draw_network(seed)
        numbers = parameters_of(network), input_of(network)
        one, *others = (make(network).run(*numbers) for make in FRAMEWORKS.values())
        assert not any(difference(one, other) for other in others), f"seed {seed}: {network}"


def test_shapes_are_those_of_the_results():
    pytest.importorskip("torch")
    for seed in range(6):
        network = draw_network(seed)
        shape = network.shape
        for layer in network.layers:
            shape = output_shape(layer, shape)
        assert FRAMEWORKS["torch"](network).run(parameters_of(network), input_of(network))[0].shape == shape
