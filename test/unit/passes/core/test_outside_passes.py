"""Pipelines of somebody else have no pass that reaches out of the program."""

import re

import pytest

from ipu_mlir.dialects.support import stablehlo
from ipu_mlir.dialects.support.bindings import ir, passmanager
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.outside_passes import NESTING, OUTSIDE, outside
from ipu_mlir.passes.core.pipeline_steps import Registry, UpstreamStep
from ipu_mlir.passes.core.pipeline_text import PassText
from ipu_mlir.passes.core.upstream_passes import NAMES
from ipu_mlir.passes.pipelines import PIPELINES

REGISTRY = Registry(PASSES, PIPELINES)
CHANGES_THE_PROGRAM_ALONE = {
    "acc-specialize-for-device",
    "affine-loop-tile",
    "affine-super-vectorize",
    "arith-emulate-unsupported-floats",
    "arith-int-range-narrowing",
    "canonicalize",
    "convert-gpu-to-nvvm",
    "convert-gpu-to-rocdl",
    "convert-math-to-rocdl",
    "convert-to-emitc",
    "convert-to-llvm",
    "gpu-kernel-outlining",
    "linalg-block-pack-matmul",
    "llvm-use-default-visibility",
    "math-expand-ops",
    "math-extend-to-supported-types",
    "mlgo-add-reflection-map",
    "one-shot-bufferize",
    "scf-parallel-loop-tiling",
    "set-llvm-module-datalayout",
    "spirv-attach-target",
    "stablehlo-compatibility-expander",
    "stablehlo-legalize-composite-to-call",
    "stablehlo-refine-arguments",
    "stablehlo-wrap-in-composite",
    "symbol-privatize",
    "test-scf-parallel-loop-collapsing",
    "tosa-attach-target",
    "tosa-experimental-input-shape",
    "tosa-to-spirv-tosa",
    "vhlo-to-version",
    "wrap-emitc-func-in-class",
}
"""Passes with options for any text or for lists, which are of types, shapes, machines or patterns."""
_OPEN = re.compile(r"=(?=[ }])|\{ |  | \}|\{\}")
"""An option that is empty, or a list that is, in the text of a pass with all its options."""


def with_open_options() -> set[str]:
    """The passes of upstream that take any text or a list: among them are all that can name a file or a command."""
    stablehlo.bindings()
    found = set()
    with ir.Context():
        for name in NAMES:
            manager = passmanager.PassManager("any")
            manager.add(name)
            text = str(manager)
            if text.startswith(f"any({name}{{") and _OPEN.search(text):
                found.add(name)
    return found


def refused(pipeline: str) -> list[str]:
    return [name for name, _ in outside(REGISTRY.resolve(pipeline))]


def test_each_pass_with_an_open_option_was_judged() -> None:
    judged, found = {*OUTSIDE, *NESTING, *CHANGES_THE_PROGRAM_ALONE}, with_open_options()
    assert found - judged == set(), "does it name files, commands or passes?"
    assert {"snapshot-op-locations", "transform-preload-library", "gpu-module-to-binary"} <= found


def test_those_that_are_refused_exist() -> None:
    assert {*OUTSIDE, *NESTING} <= set(NAMES)


@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_they_are_refused_wherever_they_stand(name: str) -> None:
    for text in (name, f"{name}{{a=b}}"):
        assert [found for found, _ in outside([UpstreamStep(text)])] == [name]
    assert [found for found, _ in outside([UpstreamStep(f"inline{{op-pipelines=func.func({name})}}")])] == ["inline"]
    text = f"composite-fixed-point-pass{{pipeline='cse,{name}{{filename=x}}'}}"
    assert [found for found, _ in outside([UpstreamStep(text)])] == ["composite-fixed-point-pass"]


@pytest.mark.parametrize(
    "pipeline",
    [
        "builtin.module(cse,func.func(any(snapshot-op-locations{filename=x})))",
        "snapshot-op-locations{filename=x tag=y}",
        "gpu-lower-to-nvvm-pipeline",
        "gpu-lower-to-xevm-pipeline{xegpu-op-level=lane}",
        "sparsifier{gpu-triple=nvptx64 gpu-chip=sm_80 gpu-features=+ptx71}",
        "inline{default-pipeline=gpu-lower-to-rocdl-pipeline}",
        "inline{default-pipeline=snapshot-op-locations}",
        'inline{op-pipelines="func.func(cse,snapshot-op-locations{filename=x})"}',
    ],
)
def test_a_nest_does_not_hide_them(pipeline: str) -> None:
    assert refused(pipeline)


@pytest.mark.parametrize(
    "pipeline",
    [
        "cse,canonicalize{max-iterations=3}",
        "tosa-to-linalg-pipeline,buffer-deallocation-pipeline,sparsifier",
        "inline",
        "inline{default-pipeline=canonicalize inlining-threshold=4294967295 max-iterations=4 }",
        "inline{op-pipelines=func.func(cse,canonicalize)}",
        "any(composite-fixed-point-pass{pipeline=canonicalize,cse max-iterations=-1})",
        "ipu-normalize,func.func(convert-scf-to-cf)",
    ],
)
def test_all_others_are_allowed(pipeline: str) -> None:
    assert refused(pipeline) == []


def test_our_pipelines_are_allowed() -> None:
    assert list(outside(REGISTRY.resolve([PassText(name) for name in PIPELINES]))) == []


def test_a_pass_that_nobody_knows_is_refused() -> None:
    assert [name for name, _ in outside([UpstreamStep("made-up{x=y}")])] == ["made-up"]
