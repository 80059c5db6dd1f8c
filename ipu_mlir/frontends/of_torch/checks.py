"""Lines of programs that only check values: ``assert mask.any()``, ``if x.isnan().any(): raise ValueError``.

PyTorch asks for the values that such a line branches on; we answer that nothing is wrong.
"""

import ast
import linecache
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dis import opname
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import SymBool, Tensor
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

NOT_THE_USERS = tuple(f"{each}{os.sep}" for each in (Path(torch.__file__).parent, Path(__file__).parents[2]))
_BETWEEN = ("__bool__", "__torch_function__", "wanted_here")
"""The functions between a line of the user and us."""
_SAY = ("warn", "warning", "warning_once", "warn_once")
_REFUSALS = ("get value out of a tracing tensor", "vmap: It looks like you're")
_PASS_ON = ("bool", "all", "any")


def asks_for_values(error: Exception) -> bool:
    """True of PyTorch's refusal to say what a tensor holds while it traces."""
    known = isinstance(error, DataDependentOutputException | GuardOnDataDependentSymNode)
    return known or any(each in str(error) for each in _REFUSALS)


def trace_checks(settings: ExitStack) -> None:
    """Answer what checks ask of numbers that PyTorch computes with while it exports."""
    theirs = SymBool.__bool__

    def answer(condition: SymBool) -> bool:
        return _value_of(theirs, condition)

    settings.enter_context(patch.object(SymBool, "__bool__", answer))


def _value_of(function: Any, x: Any) -> Any:
    try:
        return function(x)
    except Exception as error:
        if not asks_for_values(error) or (wanted := wanted_here()) is None:
            raise
        return wanted


def item(x: Tensor) -> Any:
    """``x.item()``; in a check, a number that nobody knows."""
    try:
        return Tensor.item(x)
    except Exception as error:
        if not asks_for_values(error) or wanted_here(of_a_part=True) is None:
            raise
        return _Number(error)


class _Number:
    """A number of a tensor in a check, which nobody knows."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _compared(self, _: object) -> Any:
        return self

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        if (wanted := wanted_here()) is None:
            raise self._error
        return wanted


PLAIN: dict[Any, Any] = {Tensor.__bool__: lambda x: _value_of(Tensor.__bool__, x)}


def wanted_here(of_a_part: bool = False) -> bool | None:
    """What the expression that the user's program computes just now is, if its line finds nothing wrong; None if it is
    no part of a check.

    Args:
        of_a_part: whether the expression is a number that the check compares.
    """
    frame = sys._getframe(1)
    while frame is not None and (frame.f_code.co_name in _BETWEEN or frame.f_code.co_filename == __file__):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(NOT_THE_USERS):
        return None
    places, at = list(frame.f_code.co_positions()), frame.f_lasti // 2
    is_call = opname[frame.f_code.co_code[frame.f_lasti]].startswith("CALL")
    line, end_line, column, end_column = places[at if is_call else at - 1]  # a jump has the place of its statement
    return wanted(_source(frame.f_code.co_filename), (line, column, end_line, end_column), of_a_part)


def wanted(source: ast.AST | None, place: Sequence[int | None], of_a_part: bool = False) -> bool | None:
    """What the expression at ``place``, lines and columns of its begin and end, is in a check that passes.

    >>> text = ast.parse("if not (x.all() and y < 3): raise ValueError")
    >>> wanted(text, (1, 8, 1, 15)), wanted(text, (1, 3, 1, 26)), wanted(text, (1, 0, 1, 44))
    (True, False, None)
    """
    path = _path(source, tuple(place)) if source is not None else []
    statements = [at for at, each in enumerate(path) if isinstance(each, ast.stmt)]
    if not statements or statements[-1] + 1 == len(path):
        return None
    statement, *inside = path[statements[-1] :]
    if not isinstance(statement, ast.Assert | ast.If) or inside[0] is not statement.test:
        return None
    if isinstance(statement, ast.Assert):
        answer = True
    elif _complains(statement.body) == _complains(statement.orelse):
        return None
    else:
        answer = not _complains(statement.body)
    for each in inside[:-1]:
        if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not):
            answer = not answer
        elif not (of_a_part or isinstance(each, ast.BoolOp | ast.GeneratorExp | ast.ListComp) or _passes_on(each)):
            return None
    return answer


def _passes_on(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PASS_ON


def _complains(body: Sequence[ast.stmt]) -> bool:
    """True of statements that raise, or only warn."""
    if not body:
        return False
    says = [isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and _name(each.value.func) for each in body]
    return isinstance(body[-1], ast.Raise) or all(each in _SAY for each in says)


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _path(node: ast.AST, place: tuple[int | None, ...]) -> list[ast.AST]:
    """From ``node`` to the expression at ``place``; empty if there is none."""
    found = (
        getattr(node, "lineno", None),
        getattr(node, "col_offset", None),
        getattr(node, "end_lineno", None),
        getattr(node, "end_col_offset", None),
    )
    if found == place and isinstance(node, ast.expr):
        return [node]
    for child in ast.iter_child_nodes(node):
        if rest := _path(child, place):
            return [node, *rest]
    return []


@cache
def _source(file: str) -> ast.AST | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # it is no Python
        return None
