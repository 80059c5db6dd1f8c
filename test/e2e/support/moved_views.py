"""Programs in which ops move views, and the same programs on whole tensors of the same numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.moving_ops import Use, tensor
from support.views import ROUNDS, SHAPE, WHOLE, View

import ipu_mlir as ipu

REPLICA_STEP = 10
"""How much greater the numbers of each next replica are."""

ROOTS = {
    "argument": ("", "%w = tensor.cast %x : {type} to {type}\n"),
    "computed": ("", "%w = linalg.max ins(%x, %x : {type}, {type}) outs(%x : {type}) -> {type}\n"),
    "constant": ("", "%w = arith.constant dense<{values}> : {type}\n"),
    "variable": (
        '"ipu.variable"() {{sym_name = "own", type = {type}, init = dense<{values}> : {type}}} : () -> ()\n',
        '%w = "ipu.read"() {{variable = @own}} : () -> {type}\n',
    ),
    "remote row": (
        '"ipu.remote_buffer"() {{sym_name = "own", type = {rows}, init = dense<[{values}]> : {rows}}} : () -> ()\n',
        '%w = "ipu.remote_load"(%zero) {{buffer = @own}} : (index) -> {type}\n',
    ),
    "carried": ("", ""),
}
"""Where ``%w`` comes from: what the module needs, and the op that makes it; a carried one grows by 1 each round."""

OF_PROGRAM = ("constant", "variable", "remote row")
"""Roots that are the same on all replicas."""

PLACES = ("straight", "loop", "branch")


def roots_in(place: str) -> list[str]:
    """The roots of views that are taken in ``place``."""
    return [root for root in ROOTS if root != "carried" or place == "loop"]


@dataclass(frozen=True)
class Machine:
    """A target of two IPUs; ``differ`` says whether each replica has numbers of its own."""

    tiles: int
    replicas: int = 1
    differ: bool = False


@dataclass(frozen=True)
class Moved:
    """A program, its inputs, and the machine."""

    text: str
    inputs: list[np.ndarray]
    target: ipu.Target

    def effects(self, capfd: Any, *, per_tile: bool) -> dict[str, Any]:
        """Everything that a run leaves: in queues, variables and buffers, and on standard error."""
        executable = ipu.compile(self.text, target=self.target)
        capfd.readouterr()
        (executable.run_per_tile if per_tile else executable.run)(self.inputs)
        if not executable.engine.has_state:
            return {"printed": capfd.readouterr().err}
        state = executable._together.own_state
        queues = {name: queue.read() for name, queue in state.streams.outfeeds.items()}
        values = {name: value for name, value in state.values().items() if name != "own"}
        return {**queues, **values, "printed": capfd.readouterr().err}


def moved(view: View, root: str, place: str, uses: Iterable[Use], machine: Machine) -> Moved:
    """A program that takes a view of a root in a place, and uses it."""
    kind = tensor(SHAPE)
    words = {"type": kind, "rows": kind.replace("<", "<1x"), "values": WHOLE.tolist()}
    symbols, made = (text.format(**words) for text in ROOTS[root])
    carried = ("%w", 1) if root == "carried" else None
    return _program((symbols, made, view.text), WHOLE, carried, place, list(uses), machine)


def whole(view: View, root: str, place: str, uses: Iterable[Use], machine: Machine) -> Moved:
    """The same with an argument that has the elements of the view, in memory of its own."""
    kind, shown = tensor(view.shape), np.asarray(view.numpy(WHOLE))
    step = view.step + (root == "carried") if place == "loop" else 0
    made = "" if step else f"%v = linalg.max ins(%x, %x : {kind}, {kind}) outs(%x : {kind}) -> {kind}\n"
    return _program(("", made, ""), shown, ("%v", step) if step else None, place, list(uses), machine)


def _program(
    parts: tuple[str, str, str],
    given: np.ndarray,
    carried: tuple[str, int] | None,
    place: str,
    uses: list[Use],
    machine: Machine,
) -> Moved:
    """A program around ``uses``.

    Args:
        parts: what the module needs, what the function begins with, and what makes ``%v`` in the place.
        given: the argument ``%x``, as the first replica has it.
        carried: a value that the loop carries, which begins as ``%x``, and by how much it is greater in a next round.
    """
    symbols, made, view = parts
    kind = tensor(given.shape)
    results = [(name, shape) for use in uses for name, shape in use.results.items()]
    shown = [(name, shape) for name, shape in results if 0 not in shape]
    queues = "".join(
        f'"ipu.outfeed"() {{sym_name = "seen{n}", types = [{tensor(shape)}], mode = "all"}} : () -> ()\n'
        for n, (_, shape) in enumerate(shown)
    )
    seen = "".join(
        f'"ipu.put"({name}) {{queue = @seen{n}, index = 0 : i64}} : ({tensor(shape)}) -> ()\n'
        f'"ipu.enqueue"() {{queue = @seen{n}}} : () -> ()\n'
        for n, (name, shape) in enumerate(shown)
    )
    body = f"{view}\n{''.join(use.text for use in uses)}{seen}"
    if place == "branch":
        body = f"scf.if %true {{\n{body}}}\n"
    elif place == "loop":
        name, step = carried or ("%own", 0)
        more = (
            f"%more0 = arith.constant dense<{step}> : {kind}\n%more1 = tensor.empty() : {kind}\n%more = linalg.add "
            f"ins({name}, %more0 : {kind}, {kind}) outs(%more1 : {kind}) -> {kind}\nscf.yield %more : {kind}\n"
        )
        head = f" iter_args({name} = %x) -> {kind}" if carried else ""
        end = f"%rounds = arith.constant {ROUNDS} : index\n"
        defined = "%left = " if carried else ""
        body = (
            f"{end}{defined}scf.for %round = %zero to %rounds step %one{head} {{\n{body}{more if carried else ''}}}\n"
        )
    if place != "loop":
        body = f"%round = arith.constant 0 : index\n{body}"
    varies = " {ipu.varies = true}" if machine.differ else ""
    text = (
        f"module {{\n{symbols}{queues}{''.join(dict.fromkeys(use.symbols for use in uses))}"
        f"func.func @main(%x: {kind}{varies}, %k: tensor<i32>) {{\n%zero = arith.constant 0 : index\n"
        "%one = arith.constant 1 : index\n%two = arith.constant 2 : index\n%k0 = tensor.extract %k[] : tensor<i32>\n"
        f"%at = arith.index_cast %k0 : i32 to index\n%true = arith.cmpi eq, %at, %one : index\n{made}{body}"
        "return\n}\n}\n"
    )
    arrays = [given + REPLICA_STEP * replica for replica in range(machine.replicas)]
    x = np.asarray(np.stack(arrays) if machine.differ else given, np.int32)
    target = ipu.Target(tiles_per_ipu=machine.tiles, ipus=2, replicas=machine.replicas)
    return Moved(text, [x, np.int32(1)], target)
