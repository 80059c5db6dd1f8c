"""The list of upstream's passes is that of the bindings."""

import pytest

from ipu_mlir.dialects.support import stablehlo
from ipu_mlir.dialects.support.bindings import ir, passmanager
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.pipeline_steps import Registry, UpstreamStep, leaves
from ipu_mlir.passes.core.pipeline_text import PassText
from ipu_mlir.passes.core.upstream_passes import NAMES
from ipu_mlir.passes.pipelines import PIPELINES


def test_each_of_them_exists() -> None:
    stablehlo.bindings()
    with ir.Context():
        manager = passmanager.PassManager("any")
        unknown = []
        for name in NAMES:
            try:
                manager.add(name)
            except ValueError as error:  # some need options, or another op
                unknown += [name] if "does not refer to a registered pass" in str(error) else []
    assert unknown == [], "write the list anew: scripts/list_upstream_passes.py"


def test_those_that_our_pipelines_use_are_among_them() -> None:
    steps = Registry(PASSES, PIPELINES).resolve([PassText(name) for name in PIPELINES])
    used = {step.name for step in leaves(steps) if isinstance(step, UpstreamStep)}
    assert {"canonicalize", "cse"} < used <= set(NAMES)


@pytest.mark.parametrize("name", ["canonicalize", "cse", "sccp", "symbol-dce", "convert-scf-to-cf", "test-nothing"])
def test_well_known_ones(name: str) -> None:
    assert (name in NAMES) == (name != "test-nothing")
