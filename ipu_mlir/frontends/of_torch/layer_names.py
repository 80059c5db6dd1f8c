"""Names of layers in the graphs of functions: that of the module that runs while an op is traced, or its gradient."""

from bisect import bisect
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, cast
from unittest.mock import patch

import torch
from torch.fx.experimental.proxy_tensor import PythonKeyTracer
from torch.nn.modules import module as modules


class Layer(torch.nn.Module):
    """What ``function`` does is traced under ``name``."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        super().__init__()
        self.layer_name, self.forward = name, function


class LayerNames:
    """The path of the module that runs, and of those that ran by the numbers that PyTorch gives what has gradients."""

    def __init__(self) -> None:
        self._running: list[str] = []
        self._names: dict[torch.nn.Module, str] = {}
        self._begins, self._paths = [0], [""]

    def trace(self, settings: ExitStack) -> None:
        """Name the ops that are traced until ``settings`` end."""
        settings.callback(modules.register_module_forward_pre_hook(self._enter).remove)
        settings.callback(modules.register_module_forward_hook(self._leave, always_call=True).remove)
        create_node = PythonKeyTracer.create_node

        def named(tracer: Any, *args: Any, **kwargs: Any) -> torch.fx.Node:
            node = create_node(tracer, *args, **kwargs)
            if path := self._path():
                node.meta["nn_module_stack"] = {path: (path, "torch.nn.Module")}
            return node

        settings.enter_context(patch.object(PythonKeyTracer, "create_node", named))

    def _path(self) -> str:
        backward = torch._C._current_autograd_node()
        if backward is None:
            return self._running[-1] if self._running else ""
        return self._paths[bisect(self._begins, backward._sequence_nr()) - 1]

    def _enter(self, module: torch.nn.Module, _: Any) -> None:
        if isinstance(module, Layer):
            self._names[module] = module.layer_name
        elif module not in self._names and not type(module).__module__.startswith("ipu_mlir."):
            self._names |= {each: name for name, each in module.named_modules() if each not in self._names}
        self._running.append(self._names.get(module, ""))
        self._begin()

    def _leave(self, *_: Any) -> None:
        self._running.pop()
        self._begin()

    def _begin(self) -> None:
        self._begins.append(cast(Any, torch.autograd)._get_sequence_nr())
        self._paths.append(self._running[-1] if self._running else "")
