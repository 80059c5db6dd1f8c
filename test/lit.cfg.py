"""``lit -v test`` runs the FileCheck tests as LLVM does; pytest runs the same files (``filecheck/conftest.py``)."""

import os
import sys
import tempfile

import lit.formats

config.name = "ipu-mlir"  # noqa: F821 (lit defines config)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["corpus", "e2e", "unit", "Inputs"]  # noqa: F821
config.test_exec_root = os.path.join(tempfile.gettempdir(), f"ipu-mlir-lit-{os.getuid()}")  # noqa: F821
# The tools and filecheck are those beside the Python that runs lit.
config.environment["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))  # noqa: F821
