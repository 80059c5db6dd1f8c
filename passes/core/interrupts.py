"""Ctrl-C while passes run: callbacks of C++ may not raise, so it is raised between passes."""

import signal
import threading
from types import TracebackType


class LaterInterrupts:
    """Ctrl-C in the ``with`` block becomes a ``KeyboardInterrupt`` where the block asks for it, or at its end.

    The second one is raised at once. Where it does something else than raise, or in another thread than the main one,
    it is left alone.
    """

    def __init__(self) -> None:
        self._came = False
        self._is_ours = False

    def __enter__(self) -> "LaterInterrupts":
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._is_ours = True
        return self

    def _note(self, *_: object) -> None:
        self._came = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def check(self) -> None:
        """Raise what came."""
        if self._came:
            self._came = False
            raise KeyboardInterrupt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self.check()
