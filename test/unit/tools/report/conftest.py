"""Profiles of a made-up network, of any number of IPUs and steps, whose numbers add up as the schema says."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

TIMES = ("compute", "exchange", "inter_ipu", "sync", "host")
CODE = ("vertex_code", "vertex_state", "exchange_code", "control_code")
LASTING = (*CODE, "arguments", "constants", "results")
WEIGHTS_PER_LAYER = 24_000
CLOCK_HZ = 1.325e9
FLOPS_PER_CYCLE = 128
"""Of one tile in f16."""


class Network:
    """Layers of a matrix product, a bias and a softmax, in a loop between two copies from and to the host."""

    def __init__(self, ipus: int, tiles_per_ipu: int, layers: int, repeat: int, fullness: float, seed: int) -> None:
        self.random = Random(seed)
        self.ipus, self.tiles_per_ipu, self.tiles = ipus, tiles_per_ipu, ipus * tiles_per_ipu
        self.limit = 638_976
        self.fullness = fullness
        self.steps: list[dict[str, Any]] = []
        self.executed: list[dict[str, Any]] = []
        self.compute_sets: list[dict[str, Any]] = []
        self.ops: list[dict[str, Any]] = []
        self.variables: list[dict[str, Any]] = []
        self.tile_bytes: list[list[list[int]]] = []
        self.tile_cycles: list[list[list[int]]] = []
        self._host("load %arg0")
        first = len(self.steps)
        for layer in range(layers):
            for name, heavy in (("linalg.matmul", 8.0), ("linalg.generic", 0.7), ("linalg.softmax", 1.2)):
                self._op(name, layer, heavy, repeat)
        self.loop = self._node("repeat", "scf.for", 1, self._step_nodes(first, repeat), "net.mlir:8:3")
        self._host("store %result")

    def profile(self) -> dict[str, Any]:
        cycles = {kind: sum(step["count"] * step[kind] for step in self.executed) for kind in TIMES}
        total = sum(cycles.values())
        for op in self.ops:
            op["share"] = op["cycles"] / total
        flops = sum(op["flops"] for op in self.ops)
        seconds = total / CLOCK_HZ
        peak = FLOPS_PER_CYCLE * CLOCK_HZ * self.tiles
        memory = self._memory()
        busy = sum(step["count"] * step["compute"] * step["balance"] for step in self.executed)
        self._live(memory)
        problems = self._problems(memory)
        tree = [*self._step_nodes(0, 1)[:1], self.loop, self._step_nodes(len(self.steps) - 1, 1)[0]]
        return {
            "schema": "ipu-mlir.profile",
            "version": 4,
            "producer": {"name": "ipu-mlir", "version": "0.1.0"},
            "program": {"entry": "main", "source": "net.mlir", "lines": self._lines()},
            "target": {
                "name": "ipu2",
                "ipus": self.ipus,
                "replicas": 1,
                "tiles_per_ipu": self.tiles_per_ipu,
                "num_tiles": self.tiles,
                "bytes_per_tile": self.limit,
                "clock_hz": CLOCK_HZ,
                "exchange_bytes_per_cycle": 4.0,
                "sync_cycles": 100,
                "emulated": bool(problems),
                "peak_flops": {"f8": 2 * peak, "f16": peak, "f32": peak / 4},
            },
            "compilation": {
                "fits": not problems,
                "problems": problems,
                "memory": memory,
                "variables": self.variables,
                "tile_bytes": self.tile_bytes,
                "steps": self.steps,
                "program_tree": self._node("sequence", "main", 1, tree),
                "compute_sets": self.compute_sets,
            },
            "execution": {
                "measured": True,
                "unknown_counts": [],
                "cycles": {"total": total, **cycles, "overlapped": 0, "least": total, "most": total},
                "seconds": seconds,
                "flops": flops,
                "flops_per_second": flops / seconds,
                "bytes_exchanged": sum(step["count"] * step["bytes_received"] for step in self.executed),
                "share_of_peak": {"f8": None, "f16": flops / seconds / peak, "f32": None},
                "tile_balance": busy / cycles["compute"],
                "ipus": [{"ipu": ipu, **cycles, "waiting": 0} for ipu in range(self.ipus)],
                "steps": self.executed,
                "tile_cycles": self.tile_cycles,
                "group_tiles": self.tiles_per_ipu,
                "traffic": [[[0, self.ipus - 1, 4096]]],
            },
            "ops": self.ops,
        }

    def _op(self, name: str, layer: int, heavy: float, repeat: int) -> None:
        at = len(self.ops)
        location = f"net.mlir:{10 + at}:8"
        even = self.random.uniform(0.25, 0.6) if layer % 4 == 3 and heavy > 1 else self.random.uniform(0.8, 0.99)
        active = self.tiles if even > 0.75 else int(self.tiles * even)
        compute = int(heavy * self.random.uniform(900, 2600))
        flops = int(compute * even * self.tiles * FLOPS_PER_CYCLE * (0.55 if heavy > 2 else 0.02))
        op = {"id": at, "name": name, "location": location, "compute_cycles": compute * repeat, "executions": repeat}
        exchange = self._step("exchange", f"operands of {name}", at, location, repeat)
        received = int(self.random.uniform(600, 9000))
        exchange |= {"exchange": received // 4, "bytes_received_worst": received, "balance": 0.9}
        exchange |= {"bytes_sent": received * self.tiles * 9 // 10, "bytes_received": received * self.tiles * 9 // 10}
        exchange["inter_ipu"] = received // 3 if self.ipus > 1 and heavy > 2 else 0
        computing = self._step("compute", f"{name} of layer {layer}", at, location, repeat)
        computing |= {"compute": compute, "balance": even, "active_tiles": active}
        for step, most in ((exchange, exchange["exchange"]), (computing, compute)):
            step["busy"] = len(self.tile_cycles)
            self.tile_cycles.append(runs([most if tile < active else 0 for tile in range(self.tiles)]))
        exchange["traffic"] = 0
        if self.ipus > 1:
            for step in (exchange, computing):
                parts = [self.random.uniform(0.7, 1) for _ in range(self.ipus - 1)] + [1.0]
                step["per_ipu"] = [
                    [int(step["compute"] * part), int(step["exchange"] * part), step["inter_ipu"]] for part in parts
                ]
        family = {"codelet": f"{name.split('.')[1]}_f16", "op": at, "vertices": active, "tiles": active}
        family |= {
            "cycles_max": compute,
            "cycles_mean": compute * even,
            "cycles_total": int(compute * even * self.tiles),
        }
        family |= {"flops": flops, "code_bytes": 1200, "state_bytes": 40 * active, "scratch_bytes": 2048}
        sets = {"id": len(self.compute_sets), "step": computing["step"], "vertices": active, "tiles": active}
        self.compute_sets.append({**sets, "families": [family]})
        times = {"exchange_cycles": (exchange["exchange"] + exchange["inter_ipu"]) * repeat, "flops": flops * repeat}
        op |= times | {"cycles": op["compute_cycles"] + times["exchange_cycles"], "bytes": 96 * compute * 1000}
        op |= {"steps": [exchange["step"], computing["step"]], "share_of_peak": 0.55 * even if heavy > 2 else None}
        self.ops.append(op)
        if heavy > 2:
            self._variable(f"%weight{layer}", "argument", "tensor<1024x1024xf16>", location, None, None)
        self._variable(f"{name} at {location}", "temporary", "tensor<512x1024xf16>", location, *op["steps"])

    def _host(self, name: str) -> None:
        step = self._step("host_exchange", name, None, None, 1)
        step |= {"host": 52_000, "bytes_received": 4096 * self.tiles, "bytes_received_worst": 4096, "balance": 1.0}
        if self.ipus > 1:
            step["per_ipu"] = [[0, 0, 0]] * self.ipus

    def _step(self, kind: str, name: str, op: int | None, location: str | None, count: int) -> dict[str, Any]:
        step = {"id": len(self.steps), "kind": kind, "name": name, "location": location, "op": op}
        self.steps.append(step)
        executed = {"step": step["id"], "count": count, **dict.fromkeys(TIMES, 0), "sync": 100, "balance": 1.0}
        executed |= {"active_tiles": self.tiles, "bytes_sent": 0, "bytes_received": 0, "bytes_received_worst": 0}
        self.executed.append(executed)
        return executed

    def _variable(
        self, name: str, category: str, kind: str, location: str, first_step: int | None, last_step: int | None
    ) -> None:
        each = int(self.limit * self.random.uniform(0.01, 0.07) * self.fullness)
        start = self.random.randrange(self.tiles // 2) if self.random.random() < 0.3 else 0
        entry = {"id": len(self.variables), "name": name, "category": category, "type": kind, "location": location}
        entry |= {"bytes_total": each * (self.tiles - start), "bytes_worst_tile": each}
        entry |= {
            "tiles": [start, self.tiles - 1, self.tiles - start],
            "first_step": first_step,
            "last_step": last_step,
            "bytes_per_tile": len(self.tile_bytes),
        }
        self.tile_bytes.append(runs([each if tile >= start else 0 for tile in range(self.tiles)]))
        self.variables.append(entry)

    def _lines(self) -> list[dict[str, Any]]:
        lines = sorted({int(op["location"].split(":")[1]) for op in self.ops})
        return [{"file": "net.mlir", "line": line, "text": f"%{line} = linalg.op"} for line in lines]

    def _memory(self) -> dict[str, Any]:
        mean = {
            "vertex_code": 0.05,
            "vertex_state": 0.02,
            "exchange_code": 0.06,
            "control_code": 0.01,
            "arguments": 0.3,
        }
        mean |= {"constants": 0.02, "results": 0.03, "temporaries": 0.4, "scratch": 0.03, "gaps": 0.02}
        block = max(1, self.tiles // 96)
        blocks = -(-self.tiles // block)
        scale = [self.random.uniform(0.82, 1) for _ in range(blocks)]
        scale[blocks // 3] = 1.06
        found: dict[str, list[int]] = {}
        for name, share in mean.items():
            own = [1.0 if name in CODE else self.random.uniform(0.9, 1) * part for part in scale]
            found[name] = [int(share * self.limit * self.fullness * own[tile // block]) for tile in range(self.tiles)]
        peak = [sum(values) for values in zip(*found.values(), strict=True)]
        lasting = [sum(found[name][tile] for name in LASTING) for tile in range(self.tiles)]
        without = [whole - gap for whole, gap in zip(peak, found["gaps"], strict=True)]
        worst = max(range(self.tiles), key=lambda tile: peak[tile])
        return {
            "limit": self.limit,
            "worst_tile": worst,
            "worst_bytes": peak[worst],
            "total_bytes": sum(peak),
            "per_tile": {"peak": runs(peak), "always_live": runs(lasting), "without_gaps": runs(without)},
            "categories": {name: runs(values) for name, values in found.items()},
        }

    def _live(self, memory: dict[str, Any]) -> None:
        """What lives in each step: all that lasts, and a part of the temporaries of the fullest tile."""
        tile = memory["worst_tile"]
        lasting = sum(at(memory["categories"][name], tile) for name in LASTING)
        for step in self.steps:
            live = lasting + int((memory["worst_bytes"] - lasting) * self.random.uniform(0.3, 1))
            step |= {"live_bytes_worst": live, "live_bytes_total": live * self.tiles * 9 // 10, "worst_tile": tile}

    def _problems(self, memory: dict[str, Any]) -> list[dict[str, Any]]:
        over = memory["worst_bytes"] - self.limit
        if over <= 0:
            return []
        tile = memory["worst_tile"]
        message = f"tile {tile} needs {memory['worst_bytes']:,} B in step 6, which is {over:,} B more than it has"
        tries = ["set availableMemoryProportion of linalg.matmul to 0.2", "use 2 IPUs: the weights alone take a third"]
        entry = {"kind": "tiles", "tile": tile, "step": 6, "over_bytes": over, "message": message}
        return [{**entry, "largest": [0, 1, 2], "try": tries}]

    def _step_nodes(self, first: int, count: int) -> list[dict[str, Any]]:
        return [
            {**self._node("step", step["name"], count, [], step["location"]), "step": step["id"]}
            for step in self.steps[first:]
        ]

    @staticmethod
    def _node(
        kind: str, name: str, count: int, children: list[dict[str, Any]], location: str | None = None
    ) -> dict[str, Any]:
        place = {"kind": kind, "name": name, "location": location, "count": count, "step": None}
        return {**place, "children": children}


def runs(values: list[int]) -> list[list[int]]:
    """Run-length encoded."""
    found: list[list[int]] = []
    for value in values:
        if found and found[-1][0] == value:
            found[-1][1] += 1
        else:
            found.append([value, 1])
    return found


def at(runs: list[list[int]], tile: int) -> int:
    """The value of a tile."""
    for value, count in runs:
        if tile < count:
            return value
        tile -= count
    raise IndexError(tile)


def make_profile(
    ipus: int = 1, tiles: int = 1472, layers: int = 8, repeat: int = 100, fullness: float = 0.7, seed: int = 0
) -> dict[str, Any]:
    """The JSON value of a profile."""
    return Network(ipus, tiles, layers, repeat, fullness, seed).profile()


@pytest.fixture
def sample() -> dict[str, Any]:
    """A profile on 64 tiles."""
    return make_profile(tiles=64, layers=2)


@pytest.fixture(scope="session")
def make() -> Callable[..., dict[str, Any]]:
    return make_profile


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., str]:
    """Writes a JSON value to a file; gives its path."""

    def save(value: Any, name: str = "profile.json") -> str:
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    return save
