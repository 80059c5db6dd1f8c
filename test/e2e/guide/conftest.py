"""The devices of the tests of a file, and none of them after a test."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

IS_THERE = find_spec("tensorflow") is not None


@pytest.fixture(autouse=True)
def _unconfigured() -> Iterator[None]:
    yield
    if IS_THERE:
        from ipu_mlir.tensorflow import ipu

        ipu.config.reset_ipu_configuration()


@pytest.fixture
def strategy(request: pytest.FixtureRequest) -> Any:
    """A strategy for a device of ``IPUS`` IPUs of ``TILES`` tiles each, which the file names; else one IPU of 16."""
    from ipu_mlir.tensorflow import ipu

    config = ipu.config.IPUConfig()
    config.auto_select_ipus = getattr(request.module, "IPUS", 1)
    config.ipu_model.tiles_per_ipu = getattr(request.module, "TILES", 16)
    config.configure_ipu_system()
    return ipu.ipu_strategy.IPUStrategy()
