"""Trace events: a process per IPU, a track per kind of cycles, boxes of loops that fill their time."""

from itertools import pairwise

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.profile.profile import Profile

PROGRAM = """
func.func @main(%x: tensor<64xf32>, %n: tensor<index>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %times = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %c0 to %times step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> tensor<64xf32> {
      %e = tensor.empty() : tensor<64xf32>
      %y = linalg.tanh ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %y : tensor<64xf32>
    }
    scf.yield %s : tensor<64xf32>
  }
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.exp ins(%r : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
"""


def profile(times: int) -> Profile:
    target = ipu.Target(tiles_per_ipu=4, clock_hz=1e6)  # a cycle is a microsecond
    return ipu.compile(PROGRAM, target=target).profile([np.zeros(64, np.float32), np.array(times, np.int64)])


def boxes(found: Profile, track: int | None = None, ipu_number: int = 0) -> list[tuple[str, float, float]]:
    """Name, begin and end of the boxes of an IPU."""
    events = [each for each in found.chrome_trace()["traceEvents"] if each["ph"] == "X" and each["pid"] == ipu_number]
    return [(x["name"], x["ts"], x["ts"] + x["dur"]) for x in events if track is None or x["tid"] == track]


def test_the_trace_is_as_long_as_the_program() -> None:
    found = profile(times=5)
    assert max(end for _, _, end in boxes(found)) == found.total_cycles
    assert min(begin for _, begin, _ in boxes(found)) == 0


@pytest.mark.parametrize("times", [1, 5])
def test_a_loop_shows_one_iteration_and_how_many_there_are(times: int) -> None:
    found = profile(times)
    outer, inner = sorted(boxes(found, track=0), key=lambda box: box[1] - box[2])
    assert (outer[0], inner[0]) == (f"repeat x {times}", "repeat x 3")
    (tanh,) = [name for name, *_ in boxes(found, track=1) if "tanh" in name]
    begin, end = next((b, e) for name, b, e in boxes(found, track=1) if name == tanh)
    assert inner[1] <= begin and end <= inner[2]
    assert outer[2] - outer[1] >= times * (inner[2] - inner[1])


def test_what_never_runs_is_not_drawn() -> None:
    assert not [name for name, *_ in boxes(profile(times=0)) if "tanh" in name or "repeat" in name]


def test_every_ipu_is_a_process_with_its_tracks() -> None:
    found = ipu.compile(meeting, args=(X, np.int32(7)), target=TWO).profile([X, np.int32(7)])
    events = found.chrome_trace()["traceEvents"]
    names = [each["args"]["name"] for each in events if each["ph"] == "M" and each["name"] == "process_name"]
    assert names == ["IPU 0", "IPU 1"]
    tracks = [each["args"]["name"] for each in events if each["name"] == "thread_name" and each["pid"] == 1]
    assert tracks == ["control flow", "compute", "exchange", "inter-IPU", "sync", "host"]
    for step in found.execution.steps:
        if step.compute:
            lengths = [x["dur"] for x in events if x.get("args", {}).get("step") == step.step and x["tid"] == 1]
            assert lengths == [busy for busy, *_ in step.per_ipu or () if busy]


TWO = ipu.Target(ipus=2, tiles_per_ipu=4, clock_hz=1e6)
X = np.linspace(0, 1, 64, dtype=np.float32)


def meeting(x, n):
    """Two IPUs that work apart, and exchange what they have at the end of each iteration."""

    def round_(i, carried):
        a, b = carried
        with ipu.shard(0):
            a = np.exp(np.sort(a))
        with ipu.shard(1):
            b = np.tanh(b)
        return b, a

    return ipu.fori_loop(0, n, round_, (x, x + 1))


def apart(x, n):
    with ipu.shard(0):
        a = ipu.fori_loop(0, n, lambda i, a: np.exp(np.sort(a)), x)
    with ipu.shard(1):
        b = ipu.fori_loop(0, 5, lambda i, b: np.tanh(b) + 1, x)
    return a, b


def until(x, n):
    with ipu.shard(1):
        return ipu.while_loop(lambda a: a.sum() < n, lambda a: np.exp(a), np.sort(x))


@pytest.mark.parametrize("program", [meeting, apart, until])
@pytest.mark.parametrize("target", [TWO, ipu.Target(ipus=3, tiles_per_ipu=2, clock_hz=1e6)])
def test_what_ipus_do_at_the_same_time_is_drawn_at_the_same_time(program, target) -> None:
    args = X, np.int32(7)
    found = ipu.compile(program, args=args, target=target).profile(list(args))
    drawn = [boxes(found, None, number) for number in range(target.ipus)]
    assert max(end for each in drawn for *_, end in each) == pytest.approx(found.total_cycles, abs=1)
    if program is apart:
        first, second = (boxes(found, 1, number) for number in range(2))
        assert any(max(a, c) < min(b, d) for _, a, b in first for _, c, d in second)


def test_io_tiles_are_a_process_of_their_own() -> None:
    feed = ipu.Infeed(lambda: iter([X] * 4), name="feed")

    def main(x):
        return ipu.fori_loop(0, 4, lambda i, x: np.tanh(x + feed.dequeue()), x)

    target = ipu.Target(tiles_per_ipu=6, io_tiles=2, clock_hz=1e6)
    found = ipu.compile(main, args=(X,), target=target).profile()
    received = next((begin, end) for name, begin, end in boxes(found, 5, 1) if name == "receive of @feed")
    assert received[0] == 100 and "receive of @feed" not in [name for name, *_ in boxes(found, None, 0)]
    names = [each["args"]["name"] for each in found.chrome_trace()["traceEvents"] if each["name"] == "process_name"]
    assert names == ["IPU 0", "I/O tiles"]
    assert max(end for number in (0, 1) for *_, end in boxes(found, None, number)) == pytest.approx(found.total_cycles)


def test_boxes_of_a_track_do_not_overlap() -> None:
    found = profile(times=3)
    for track in range(1, 6):
        spans = sorted((begin, end) for _, begin, end in boxes(found, track))
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_arms_of_a_branch_share_its_time() -> None:
    """Seven of ten iterations take one arm, three the other."""
    text = """
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %early = arith.cmpi slt, %i, %c7 : index
    %e = tensor.empty() : tensor<64xf32>
    %s = scf.if %early -> tensor<64xf32> {
      %y = linalg.tanh ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %y : tensor<64xf32>
    } else {
      %y = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %y : tensor<64xf32>
    }
    scf.yield %s : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
"""
    target = ipu.Target(tiles_per_ipu=4, clock_hz=1e6)
    found = ipu.compile(text, target=target).profile([np.zeros(64, np.float32)])
    lengths = {name: end - begin for name, begin, end in boxes(found, track=1)}
    cycles = {step.name: found.execution.steps[step.id].compute for step in found.compilation.steps}
    assert lengths["tanh_f32"] == pytest.approx(0.7 * cycles["tanh_f32"])
    assert lengths["exp_f32"] == pytest.approx(0.3 * cycles["exp_f32"])
    assert max(end for *_, end in boxes(found)) == pytest.approx(found.total_cycles)
