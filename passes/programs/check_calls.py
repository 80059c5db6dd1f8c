"""``ipu-check-calls``: programs that would become too large where their calls are inlined."""

from collections import Counter

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED, callee_of, calls_in, names_callees_first
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.core.instruments import count_ops
from ipu_mlir.passes.support.rewriting import list_ops

MOST_OPS = 200_000
"""Some minutes of compile time."""
_WORTH_A_MARK = MOST_OPS // 100
_KEPT = ("no_inline", OUTLINED)


class CheckCalls(Pass):
    """Refuse a program that has too many ops when all calls are inlined: one that calls functions twice, which call
    others twice, doubles with each level.

    Needs:  nothing.
    Leaves: the module as it was.
    """

    name = "ipu-check-calls"

    def run(self, module: ir.Operation) -> None:
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        with module.context, Refusals() as refuse:
            own = {name: count_ops(function) for name, function in functions.items()}
            inlined = {name: _inlined_calls(function) for name, function in functions.items()}
            size: dict[str, int] = {}
            for name in names_callees_first(inlined):
                size[name] = own[name] + sum(size.get(each, 0) * times for each, times in inlined[name].items())
            for name, function in functions.items():
                if size[name] > MOST_OPS and "sym_visibility" not in function.attributes:
                    refuse(function, _message(name, size[name], worth_marking(own, inlined)))


def _message(name: str, size: int, marks: list[str]) -> str:
    found = f"@{name} has {size:,} ops when its calls are inlined, and at most {MOST_OPS:,} are compiled"
    if not marks:
        return f"{found}; write loops (scf.for) where ops repeat"
    named = ", ".join(f"@{each}" for each in marks)
    return f"{found}; mark the calls of {named} with {{{OUTLINED}}}, so that the code of each exists once"


def worth_marking(own: dict[str, int], inlined: dict[str, Counter[str]]) -> list[str]:
    """The functions that, marked, make the program small.

    Args:
        own: the number of ops of each function, callees first or not.
        inlined: how often each function calls which others.

    >>> from collections import Counter
    >>> own = {f"f{i}": 3 for i in range(25)}
    >>> worth_marking(own, {f"f{i}": Counter({f"f{i + 1}": 2}) if i < 24 else Counter() for i in range(25)})
    ['f15', 'f6']
    """
    calls: Counter[str] = Counter()
    for each in inlined.values():
        calls.update(each)
    size: dict[str, int] = {}
    marked: list[str] = []
    for name in names_callees_first(inlined):
        size[name] = own[name] + sum(size.get(each, 0) * times for each, times in inlined[name].items())
        if calls[name] > 1 and size[name] > _WORTH_A_MARK:
            marked.append(name)
            size[name] = 1
    return marked


def _inlined_calls(function: ir.Operation) -> Counter[str]:
    """How often ``function`` calls each function where the call will be inlined."""
    calls = [op for op in calls_in(function) if not any(each in op.attributes for each in _KEPT)]
    return Counter(map(callee_of, calls))
