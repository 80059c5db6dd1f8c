"""``import ipu_mlir`` imports nothing that is not used."""

import subprocess
import sys

import pytest

import ipu_mlir


def modules_after(statements: str) -> set[str]:
    """Names of the modules that a fresh process has loaded after ``statements``."""
    program = f"{statements}\nimport sys\nprint('\\n'.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    )


def test_the_package_alone_loads_neither_mlir_nor_numpy_nor_its_own_parts():
    loaded = modules_after("import ipu_mlir")
    assert {name for name in loaded if name.startswith("ipu_mlir.")} == set()
    assert not loaded & {"numpy", "torch_mlir", "mlir"}


def test_a_target_needs_no_mlir():
    loaded = modules_after("import ipu_mlir; ipu_mlir.Target(ipus=2)")
    assert not loaded & {"torch_mlir", "mlir", "ipu_mlir.runtime", "ipu_mlir.passes"}


def test_tracing_needs_neither_passes_nor_the_runtime():
    loaded = modules_after("import ipu_mlir; ipu_mlir.function(lambda x: x).trace(ipu_mlir.TensorSpec((2,)))")
    assert "torch_mlir.ir" in loaded or "mlir.ir" in loaded
    builders = {"ipu_mlir.passes", "ipu_mlir.passes.support", "ipu_mlir.passes.support.linalg_builders"}
    assert not {name for name in loaded if name.startswith(("ipu_mlir.passes", "ipu_mlir.runtime"))} - builders


@pytest.mark.parametrize("name", ipu_mlir.__all__)
def test_every_public_name_is_there(name):
    assert getattr(ipu_mlir, name) is not None
    assert name in dir(ipu_mlir)


def test_another_name_is_an_attribute_error_that_lists_the_names():
    with pytest.raises(AttributeError, match="has no attribute 'jitted'; it has CompileError"):
        ipu_mlir.jitted  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'pmap'; a program runs once per replica"):
        ipu_mlir.pmap  # noqa: B018
