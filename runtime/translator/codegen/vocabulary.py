"""The vocabulary of generated source: everything else is refused before it runs.

Emitters write text, and some of it is made from names of the program. That such text is quoted is one wall; this is the
second: the source is read as a tree, and a tree with anything that no emitter writes is not compiled.
"""

import ast
from types import CodeType
from typing import Any, NoReturn

import numpy as np
from numpy._core import umath

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.runtime import numeric

_OF_NUMPY = frozenset(n for n, value in vars(umath).items() if isinstance(value, np.ufunc) and vars(np).get(n) is value)
_IMPORTS = {
    "numpy": _OF_NUMPY | {"copyto", "dot", "inf", "nan"},
    "ipu_mlir.runtime.numeric": numeric.OWN_NAMES,
    "ipu_mlir.runtime.engine.program_memory": frozenset(["strided"]),
}
_BUILTINS = {"int": int, "range": range}
FUNCTIONS: frozenset[str] = frozenset(_BUILTINS).union(*_IMPORTS.values())
"""Every name that generated source does not bind itself, and therefore may not bind."""

_METHODS = frozenset(["reduce", "reshape", "take", "view", "T"])  # of ufuncs and arrays
_METHODS_OF_MEMORY = frozenset(["constant", "kernel", "per_thread", "run_blocks", "scalar", "temporary"])
_METHODS_OF_KERNELS = frozenset(["run"])
_ATTRIBUTES = _METHODS | _METHODS_OF_MEMORY | _METHODS_OF_KERNELS
_NODES = frozenset(
    {
        *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.ImportFrom, ast.alias),
        *(ast.Return, ast.Assign, ast.Expr, ast.Pass, ast.Break, ast.If, ast.For, ast.While),
        *(ast.Name, ast.Load, ast.Store, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple),
        *(ast.Constant, ast.UnaryOp, ast.USub, ast.Not, ast.BinOp, ast.Add, ast.Sub, ast.Mult),
        *(ast.BoolOp, ast.And, ast.Compare, ast.Lt, ast.LtE),
    }
)
_NAMESPACE = {"__import__": __import__, **_BUILTINS}


def code_of(source: str) -> CodeType:
    """``source``, checked and compiled.

    Raises:
        CompileError: it is no Python, or does what no emitter writes.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _refused(getattr(error, "lineno", None) or 0, f"{error}") from error
    _check(tree)
    return compile(tree, "<translated program>", "exec")


def namespace() -> dict[str, Any]:
    """Where compiled source runs: with no more builtins than it may name."""
    return {"__builtins__": dict(_NAMESPACE)}


def _check(tree: ast.Module) -> None:
    bound: set[str] = set()
    used: dict[str, ast.AST] = {}
    functions: set[str] = set()
    calls: list[ast.Call] = []
    nodes: list[Any] = [tree]
    while nodes:
        node = nodes.pop()
        kind = type(node)
        if kind not in _NODES:
            _refuse(node, f"a {kind.__name__}")
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:
                bound.add(node.id)
            else:
                used[node.id] = node
            continue
        if kind is ast.Constant:
            continue
        if kind is ast.Attribute:
            if not (node.attr in _ATTRIBUTES or _is_host_call(node.attr)) or type(node.ctx) is not ast.Load:
                _refuse(node, f"the attribute {node.attr}")
            nodes.append(node.value)
        elif kind is ast.Call:
            calls.append(node)
            nodes.append(node.func)
            nodes += node.args
            nodes += node.keywords
        elif kind is ast.ImportFrom:
            allowed = _IMPORTS.get(node.module, frozenset())
            for alias in node.names:
                if node.level or alias.asname or alias.name not in allowed:
                    _refuse(node, f"an import of {alias.name} from {node.module}")
        else:
            if kind is ast.FunctionDef:
                bound.add(node.name)
                functions.add(node.name)
                if node.decorator_list or node.args.defaults or node.args.kw_defaults or node.returns:
                    _refuse(node, "a function with more than parameters")
            elif kind is ast.arg:
                bound.add(node.arg)
            nodes += ast.iter_child_nodes(node)
    for call in calls:
        _check_call(call, FUNCTIONS | functions - {"build", "main"})
    for name in bound:
        if name in FUNCTIONS or name.startswith("__"):
            raise _refused(0, f"the name {name}, which is taken")
    for name, node in used.items():
        if name not in bound and name not in FUNCTIONS:
            _refuse(node, f"the name {name}, which is nothing")


def _is_host_call(name: str) -> bool:
    from ipu_mlir.dialects.ipu import HOST_CALLS  # with all of MLIR, which most sources do not need

    return name in HOST_CALLS


def _check_call(node: ast.Call, functions: frozenset[str]) -> None:
    """A function of ours, of NumPy or of the source itself is called by its name, anything else as a method."""
    called = node.func
    if not (isinstance(called, ast.Attribute) or (isinstance(called, ast.Name) and called.id in functions)):
        _refuse(node, f"a call of {ast.unparse(called)}")


def _refuse(node: Any, what: str) -> NoReturn:
    raise _refused(getattr(node, "lineno", 0), what)


def _refused(line: int, what: str) -> CompileError:
    return CompileError(
        f"the source of the program has {what} in line {line}, which no emitter writes, and was not run; "
        "this is a bug of ipu-mlir: please report it with the program"
    )
