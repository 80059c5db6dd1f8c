"""Functions with one copy of their code (guide 21.15.3)."""

import functools
from collections.abc import Callable
from typing import Any


def outlined_function(
    func: Callable[..., Any] | None = None,
    unique_sharding: bool = False,
    keep_input_layouts: bool | None = None,
    name: str | None = None,
) -> Any:
    """``func``, as a decorator with or without arguments.

    Its calls are part of the program as any other ops are: whether they share code does not change what it gives.
    """
    if func is None:
        return functools.partial(
            outlined_function, unique_sharding=unique_sharding, keep_input_layouts=keep_input_layouts, name=name
        )

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return called
