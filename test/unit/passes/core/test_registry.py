"""Passes are found by their names, and imported when somebody asks for them."""

import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

from ipu_mlir import passes
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_text import PipelineError
from ipu_mlir.passes.normalize.fold_gaps import FoldGaps


def test_every_pass_is_found_under_its_name() -> None:
    modules = [each.name for each in walk_packages(passes.__path__, f"{passes.__name__}.")]
    classes = {
        each
        for module in modules
        for each in vars(import_module(module)).values()
        if isinstance(each, type) and issubclass(each, Pass) and hasattr(each, "name")
    }
    assert len(classes) > 100
    assert {each.name: each for each in classes} == dict(PASSES)
    assert len(classes) == len(PASSES)


def test_files_without_a_pass_are_no_passes() -> None:
    assert "ipu-rules" not in PASSES and "ipu-plugins" not in PASSES and "canonicalize" not in PASSES


def test_one_pass_is_imported_alone() -> None:
    code = (
        "import sys; from ipu_mlir.passes import PASSES; PASSES['ipu-fold-gaps'];"
        "print([each in sys.modules for each in ('ipu_mlir.passes.normalize.fold_gaps', "
        "'ipu_mlir.passes.placement.partition.partition')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[True, False]\n"


def test_others_have_other_names() -> None:
    class Other(Pass):
        name = "test-other"

    class Same(Pass):
        name = "ipu-fold-gaps"

    both = PASSES.with_others([Other])
    assert both["test-other"] is Other and both["ipu-fold-gaps"] is FoldGaps and "test-other" not in PASSES
    assert len(both.with_others([Other])) == len(PASSES) + 1
    with pytest.raises(PipelineError, match="two passes are named 'ipu-fold-gaps'"):
        PASSES.with_others([Same])
