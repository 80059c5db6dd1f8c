"""Answers found once: about attributes for as long as a program is compiled, about a module until a pass changes it.

An attribute can only be read by printing it, which takes longer than most questions about an op. What was found is
known by the attribute, which keeps its whole context alive; so it is forgotten when the last compilation ends.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

A, T = TypeVar("A"), TypeVar("T")
_known: list[dict[Any, Any]] = []
_of_modules: list[dict[Any, Any]] = []
_counting = threading.Lock()
_compilations = 0


def remembered(read: Callable[[A], T]) -> Callable[[A], T]:
    """``read``, a function of one attribute, so that it reads each once in a ``with remembering()`` block."""
    known: dict[A, T] = {}
    _known.append(known)

    @wraps(read)
    def reading(attribute: A) -> T:
        found = known.get(attribute)
        if found is None:
            found = read(attribute)
            if _compilations:
                known[attribute] = found
        return found

    return reading


def analysis(find: Callable[..., T]) -> Callable[..., T]:
    """``find``, a question about a module, so that it is answered once until ``forget_analyses``, while compiling."""
    known: dict[Any, T] = {}
    _of_modules.append(known)

    @wraps(find)
    def finding(*about: Any) -> T:
        if not _compilations:
            return find(*about)
        if about not in known:
            known[about] = find(*about)
        return known[about]

    return finding


def forget_analyses() -> None:
    """Find every ``analysis`` anew: a module is about to change."""
    for known in _of_modules:
        known.clear()


@contextmanager
def remembering() -> Iterator[None]:
    """Remember what attributes say until the block ends, or the last such block of any thread."""
    global _compilations
    with _counting:
        _compilations += 1
    try:
        yield
    finally:
        with _counting:
            _compilations -= 1
            if not _compilations:
                for known in (*_known, *_of_modules):
                    known.clear()
