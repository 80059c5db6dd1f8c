"""Random programs in the names of NumPy, JAX, TensorFlow and PyTorch, line by line as people write, against these.

``IPU_WRITTEN_PROGRAMS`` says how many the long test draws (300 without it), ``IPU_RANDOM_SEED`` from which seed on;
``python test/e2e/support/written/campaign.py`` draws any number.
"""

import importlib.util
import os

import pytest
from support.written.check import LIBRARIES, problem

FEW = {"numpy": range(4), "jax": range(1, 4), "tensorflow": range(3, 5), "torch": range(100, 103)}
MANY = int(os.environ.get("IPU_WRITTEN_PROGRAMS", "300"))
SEED = int(os.environ.get("IPU_RANDOM_SEED", "0"))


@pytest.fixture(params=LIBRARIES)
def library(request) -> str:
    """Each that is installed."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"needs {request.param}")
    return request.param


def test_written_programs_agree(library: str):
    assert {seed: problem(seed, library) for seed in FEW[library]} == dict.fromkeys(FEW[library], "")


@pytest.mark.slow
def test_many_written_programs_agree(library: str):
    found = {seed: said for seed in range(SEED, SEED + MANY) if (said := problem(seed, library))}
    assert not found
