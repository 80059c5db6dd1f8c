"""Tests of front ends are skipped where the package of the front end is not installed."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
OPTIONAL = {"torch", "jax", "flax", "equinox", "optax", "tensorflow", "keras", "onnx"}


def too_early(tree: ast.Module) -> list[str]:
    """Optional packages that a module imports without having asked for them with ``importorskip``."""
    asked, found = set(), []
    for statement in tree.body:
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Attribute(attr="importorskip"), args=[ast.Constant(value=str(name)), *_]):
                    asked.add(name.partition(".")[0])
        if isinstance(statement, ast.Import):
            names = [name.name for name in statement.names]
        else:
            names = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
        found += [name for name in names if name.partition(".")[0] in OPTIONAL - asked]
    return found


def test_optional_packages_are_asked_for():
    found = {str(path): too_early(ast.parse(path.read_text())) for path in TESTS.rglob("test_*.py")}
    assert not {name: packages for name, packages in found.items() if packages}


def test_what_is_too_early():
    assert too_early(ast.parse("import torch")) == ["torch"]
    assert too_early(ast.parse("from jax import numpy")) == ["jax"]
    assert not too_early(ast.parse("jax = pytest.importorskip('jax')\nfrom jax import numpy"))
