"""What ``compile`` is told, and the text of a program that nobody has parsed: what is kept on disk is known by both."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ipu_mlir.runtime.engine import program_cache
from ipu_mlir.runtime.engine.native import possible
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

if TYPE_CHECKING:
    from ipu_mlir.compilation.lowering import Lowering, Pipeline
    from ipu_mlir.dialects.machine.target import Target
    from ipu_mlir.dialects.support.bindings import ir


@dataclass(frozen=True)
class How:
    """What ``compile`` is told of the way from a program to what runs; its passes are not looked at before they run."""

    target: "Target | None" = None
    pipeline: "Pipeline | None" = None
    planner: Callable[..., Any] | None = None
    available_memory_proportion: float | None = None
    merge_collectives: int | None = None
    merge_remote_buffers: str | None = None
    float_modes: str | Mapping[str, Any] | None = None
    partials_type: str | None = None
    outline_layers: bool = True
    recompute: float | None = None
    kernels: str | None = None

    @cached_property
    def lowering(self) -> "Lowering":
        from ipu_mlir.compilation.lowering import plan_lowering

        options = {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}
        kernels = options.pop("kernels")
        return replace(plan_lowering(**options), kernels=kernels, said=self.text)

    @property
    def text(self) -> str | None:
        """All that decides what becomes of a program; None if a callable does, or passes of the user's own."""
        return None if self.pipeline is not None or self.planner is not None else str(self)

    def key_of(self, source: "Text", entry: str | None, replicas: int = 1) -> str | None:
        """What ``source`` is kept as on disk; None if this does not say all that is done with it."""
        if self.text is None:
            return None
        done = f"{self.text} {possible(TranslatorOptions.of(self.kernels))} {replicas} {source.name}"
        return program_cache.key_of(lambda: source.content, (), repr(entry), done)


@dataclass(frozen=True)
class Text:
    """A program that nobody has parsed, with the name that its places have."""

    content: bytes
    name: str = "<text>"

    @staticmethod
    def of(source: Any) -> "Text | None":
        """The program that a path or a text is; None for any other source, and a file that cannot be read just so."""
        if isinstance(source, str) and "\n" in source:
            return Text(source.encode(errors="surrogatepass"))
        if isinstance(source, bytes):
            return Text(source)
        try:
            if isinstance(source, str | os.PathLike) and os.path.isfile(source):
                with open(source, "rb") as file:
                    return Text(file.read(), str(source))
        except OSError:
            pass
        return None

    def parsed(self) -> "ir.Module":
        from ipu_mlir.compilation.sources import read_module
        from ipu_mlir.dialects.support.parsing import source_of_bytes

        return read_module(source_of_bytes(self.content, self.name))
