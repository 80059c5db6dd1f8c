"""Helpers to rewrite IR: run patterns, list ops, erase safely.

A pattern is a function ``(op, rewriter) -> bool`` that answers ``SKIP`` or ``REWRITTEN``. Inside, new ops are made
``with rewriter.ip:``, and ``rewriter.replace_op(op, new)`` or ``rewriter.erase_op(op)`` ends the old one.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ipu_mlir.dialects.analysis.matchers import is_used
from ipu_mlir.dialects.support.bindings import ADVANCE, SKIP_INSIDE, ir
from ipu_mlir.dialects.support.bindings import rewrite as drivers
from ipu_mlir.passes.core.instruments import count_ops

SKIP = True
"""The pattern did not apply (the bindings take a true answer as "no match")."""
REWRITTEN = False
"""The pattern applied."""

Root = type | str
Pattern = Callable[[Any, Any], bool]
Patterns = Mapping[Root, Pattern | Iterable[Pattern]]


def _pattern_set(patterns: Patterns, most: int) -> Any:
    """``patterns`` for the current context, to be applied ``most`` times.

    A set belongs to one context and can be frozen only once, so each run has its own.
    """
    made = drivers.RewritePatternSet()
    applied = itertools.count(1)

    def counted(pattern: Pattern) -> Pattern:
        def apply(op: Any, rewriter: Any) -> bool:
            answer = pattern(op, rewriter)
            if answer == REWRITTEN and next(applied) > most:
                name = getattr(pattern, "__name__", pattern)
                raise AssertionError(f"patterns feed each other without an end; the last one was {name}")
            return answer

        return apply

    for root, functions in patterns.items():
        for function in (functions,) if callable(functions) else functions:
            made.add(root, counted(function))
    return made.freeze()


def rewrite(op: ir.Operation, patterns: Patterns, *, fold: bool = True) -> None:
    """Apply ``patterns`` below ``op`` until none applies.

    Args:
        patterns: op class or op name -> pattern, or several.
        fold: also fold constants and delete dead ops, as ``canonicalize`` does.

    Raises:
        AssertionError: the patterns feed each other without an end, which is a bug in them.
    """
    config = drivers.GreedyRewriteConfig()
    config.max_iterations = -1  # MLIR offers ops that a Python pattern made only in its next iteration
    config.enable_folding = fold
    config.use_top_down_traversal = True  # a chain is rewritten in one iteration
    with op.context:
        limit = 1000 + 20 * count_ops(op)
        drivers.apply_patterns_and_fold_greedily(op, _pattern_set(patterns, limit), config)


def list_ops(op: ir.Operation, *names: str) -> list[ir.Operation]:
    """The ops named ``names`` (all ops without names) of ``op`` and below it, each after those inside it; a list that
    may be edited from: members stay valid until they are erased.

    With names, blocks that nothing branches to are left out.
    """
    found: list[ir.Operation] = []
    if not names:
        op.operation.walk(lambda inner: found.append(inner) or ADVANCE)
        return found

    def note(inner: ir.OpView, _: Any) -> bool:
        found.append(inner.operation)
        return SKIP

    with op.context:  # of all ways to walk, the one that asks Python about the ops of these names alone
        patterns = drivers.RewritePatternSet()
        for name in dict.fromkeys(names):
            patterns.add(name, note)
        drivers.walk_and_apply_patterns(op, patterns.freeze())
    return [*found, op.operation] if op.operation.name in names else found


def list_outside_bodies(op: ir.Operation) -> list[ir.Operation]:
    """``op`` and the ops below it, each before those inside it, but none of the bodies of structured ops; may be edited
    from like ``list_ops``.
    """
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        found.append(inner)
        return SKIP_INSIDE if inner.name.startswith("linalg.") else ADVANCE

    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def has_uses(op: ir.Operation) -> bool:
    """True if any result of ``op`` is used."""
    return any(is_used(result) for result in op.results)


def replace_op(op: ir.Operation, values: Iterable[ir.Value]) -> None:
    """Let the users of ``op`` have ``values``, and erase it."""
    for result, value in zip(op.results, list(values), strict=True):
        result.replace_all_uses_with(value)
    op.erase()
