"""How long each statement of generated NumPy source takes, over all threads."""

import ast
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_CLOCK, _SPENT, _NEW = "_clock", "_spent", "_new_spent"


@dataclass(frozen=True)
class StatementTime:
    """One line of the source.

    Attributes:
        line: its number in the source, from 1.
        text: the statement.
        function: what it calls, ``a.reduce`` with its ufunc; ``view`` if it only names an array.
        seconds: of all its executions, on all threads together.
    """

    line: int
    text: str
    function: str
    seconds: float


class TimedSource:
    """Generated source with a clock around every statement of the functions that run.

    Args:
        clock: gives seconds; ``time.thread_time`` leaves out what other processes take, and
            costs 1.2 us a statement, not 0.2.
    """

    def __init__(self, source: str, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._tree = ast.parse(source)
        self._copies: list[dict[int, float]] = []  # one per function that runs, so that threads do not share one
        self._statements: dict[int, ast.Expr | ast.Assign] = {}
        for function in ast.walk(self._tree):
            if isinstance(function, ast.FunctionDef):
                self._instrument(function)
        ast.fix_missing_locations(self._tree)

    def compiled(self) -> Callable[[Any], Callable[..., None]]:
        """The ``build`` function of the source, with the clocks."""
        names: dict[str, Any] = {_CLOCK: self._clock, _NEW: self._new_copy}
        exec(compile(self._tree, "<timed program>", "exec"), names)
        return names["build"]

    def forget(self) -> None:
        """Begin again at zero."""
        for copy in self._copies:
            copy.update(dict.fromkeys(copy, 0.0))

    def times(self) -> list[StatementTime]:
        """Every timed statement, in the order of the source."""
        return [
            StatementTime(line, ast.unparse(each), _function(each), sum(copy[line] for copy in self._copies))
            for line, each in sorted(self._statements.items())
        ]

    def _new_copy(self) -> dict[int, float]:
        self._copies.append(dict.fromkeys(self._statements, 0.0))
        return self._copies[-1]

    def _instrument(self, function: ast.FunctionDef) -> None:
        """Time the statements of a function that runs; one that only builds others gives them a place for times."""
        if any(isinstance(inner, ast.FunctionDef) for inner in function.body):
            function.body.insert(0, ast.parse(f"{_SPENT} = {_NEW}()").body[0])
            return
        function.body = self._timed(function.body)

    def _timed(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        timed: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.For | ast.While | ast.If):
                statement.body = self._timed(statement.body)
                statement.orelse = self._timed(statement.orelse)
                timed.append(statement)
            elif isinstance(statement, ast.Expr | ast.Assign) and not _waits(statement):
                self._statements[statement.lineno] = statement
                begin, end = ast.parse(f"_begin = {_CLOCK}()\n{_SPENT}[{statement.lineno}] += {_CLOCK}() - _begin").body
                timed += [begin, statement, end]
            else:
                timed.append(statement)
        return timed


def _function(statement: ast.Expr | ast.Assign) -> str:
    """The function that a statement calls."""
    if isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return "view"
    called = statement.value.func
    if isinstance(called, ast.Attribute):  # ufunc.reduce, or array.take
        return ast.unparse(called) if called.attr == "reduce" else called.attr
    if ast.unparse(called) == "run_codelet":
        return ast.unparse(statement.value.args[0]).strip("'")
    return ast.unparse(called)


def _waits(statement: ast.stmt) -> bool:
    """Whether ``statement`` runs blocks, whose statements have clocks of their own, or says nothing."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Constant):
        return True
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "run_blocks"
