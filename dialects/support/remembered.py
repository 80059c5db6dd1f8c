"""Answers found once: about attributes for as long as a program is compiled, about a module while no pass changes it.

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
_of_modules = threading.local()
"""Of each thread ``answers``, while it keeps what it finds out: an op that is erased leaves its address to another."""
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
    """``find``, a question about a module, so that a thread answers it once while it keeps analyses."""

    @wraps(find)
    def finding(*about: Any) -> T:
        answers = getattr(_of_modules, "answers", None)
        if answers is None:
            return find(*about)
        if (find, about) not in answers:
            answers[find, about] = find(*about)
        return answers[find, about]

    return finding


def keep_analyses(are_kept: bool) -> None:
    """Answer every ``analysis`` once in this thread until this is called with False, before a module changes."""
    if not are_kept:
        _of_modules.answers = None
    elif getattr(_of_modules, "answers", None) is None:
        _of_modules.answers = {}


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
                for known in _known:
                    known.clear()
