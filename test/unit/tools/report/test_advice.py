"""Each rule finds its waste in a profile that has it, and keeps quiet about one that has not."""

from collections.abc import Callable
from typing import Any

import pytest

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.advice.advise import advise
from ipu_mlir.tools.report.advice.entry import Advice


def advice_on(value: dict[str, Any]) -> list[Advice]:
    return advise(Profile.from_json(value))


def titles(value: dict[str, Any]) -> list[str]:
    return [advice.title for advice in advice_on(value)]


@pytest.fixture
def calm(sample: dict[str, Any]) -> dict[str, Any]:
    """A profile without waste: even steps, little exchange, room on every tile."""
    for step in sample["execution"]["steps"]:
        step.update(balance=0.95, active_tiles=64)
        step.update({kind: min(step[kind], 10) for kind in ("exchange", "sync", "host")})
    for op in sample["ops"]:
        op.update(exchange_cycles=10)
    recount(sample)
    return sample


def recount(value: dict[str, Any]) -> None:
    """Make the totals fit the steps again."""
    cycles = value["execution"]["cycles"]
    for kind in ("compute", "exchange", "inter_ipu", "sync", "host"):
        cycles[kind] = sum(step["count"] * step[kind] for step in value["execution"]["steps"])
    cycles["total"] = sum(count for kind, count in cycles.items() if kind not in ("total", "least", "most"))


def step_of(value: dict[str, Any], op: int, kind: str) -> dict[str, Any]:
    """The executed step of an op that computes or exchanges."""
    (found,) = (step["id"] for step in value["compilation"]["steps"] if step["op"] == op and step["kind"] == kind)
    return value["execution"]["steps"][found]


def test_nothing_to_say_where_nothing_is_wasted(calm: dict[str, Any]) -> None:
    assert advice_on(calm) == []


def test_few_tiles_take_part(calm: dict[str, Any]) -> None:
    step = step_of(calm, 0, "compute")
    step.update(compute=100_000, balance=0.25, active_tiles=16)
    recount(calm)
    (found,) = advice_on(calm)
    assert found.title == "Use more tiles in linalg.matmul (net.mlir:10:8)"
    assert found.why == (
        "In 'linalg.matmul of layer 0' the slowest tile computes 4 times as long as the average tile; "
        "only 16 of 64 tiles take part."
    )
    assert found.gain_cycles == step["count"] * 75_000 and found.step == step["step"]


def test_all_tiles_take_part_unevenly(calm: dict[str, Any]) -> None:
    step_of(calm, 0, "compute").update(compute=100_000, balance=0.5)
    recount(calm)
    assert titles(calm) == ["Even out the tiles in linalg.matmul (net.mlir:10:8)"]


def test_a_stage_on_one_ipu_of_several_is_not_uneven(make: Callable[..., dict[str, Any]]) -> None:
    value = make(ipus=4, tiles=16, layers=4)
    for step in value["execution"]["steps"]:
        step.update(balance=0.24, active_tiles=16)
        if "per_ipu" in step:
            step["per_ipu"] = [[0, 0]] * 4
            step["per_ipu"][step["step"] // 6 % 4] = [step["compute"], step["exchange"]]
    assert not [title for title in titles(value) if "tiles in" in title]


def test_small_wastes_of_ops_of_one_name_become_one_advice(make: Callable[..., dict[str, Any]]) -> None:
    value = make(tiles=64, layers=60)
    for op in range(0, 180, 3):
        step_of(value, op, "compute").update(compute=10_000 + op, balance=0.5, active_tiles=64)
    recount(value)
    assert "Even out the tiles in 60 linalg.matmul, the worst at net.mlir:187:8" in titles(value)


def test_a_product_that_starves_the_matrix_unit(calm: dict[str, Any]) -> None:
    step = step_of(calm, 0, "compute")
    family = calm["compilation"]["compute_sets"][0]["families"][0]
    family.update(cycles_max=1000, cycles_total=64_000, flops=int(64_000 * 128 * 0.1))
    (found,) = advice_on(calm)
    assert found.title == "Feed the matrix unit in linalg.matmul (net.mlir:10:8)"
    assert "a tile that computes reaches 10 % of its f16 peak" in found.why
    assert found.gain_cycles == pytest.approx(step["count"] * 1000 * (1 - 0.1 / 0.6), rel=1e-3)


def test_the_second_stage_of_a_split_product_is_no_product(calm: dict[str, Any]) -> None:
    family = calm["compilation"]["compute_sets"][0]["families"][0]
    family.update(codelet="reduce_f32", flops=1)
    assert titles(calm) == []


def test_products_in_f32(calm: dict[str, Any]) -> None:
    for compute_set in calm["compilation"]["compute_sets"]:
        for family in compute_set["families"]:
            family["codelet"] = family["codelet"].replace("f16", "f32")
    assert titles(calm) == ["Compute matrix products in f16"]
    calm["target"]["peak_flops"]["f32"] = calm["target"]["peak_flops"]["f16"]
    assert titles(calm) == []


def test_an_op_that_waits_for_its_operands(calm: dict[str, Any]) -> None:
    step_of(calm, 1, "exchange").update(exchange=50_000, bytes_received_worst=200_000)
    calm["ops"][1].update(exchange_cycles=5_000_000, compute_cycles=1_000_000)
    recount(calm)
    (found,) = advice_on(calm)
    assert (found.kind, found.gain_cycles) == ("exchange", 4_000_000)
    assert found.title == "Move less for linalg.generic (net.mlir:11:8)"
    assert "one tile receives 195 KiB in 'operands of linalg.generic'" in found.why
    assert "availableMemoryProportion" not in found.action
    calm["compilation"]["memory"].update(worst_bytes=1000)
    assert "higher availableMemoryProportion" in advice_on(calm)[0].action


def test_steps_that_mostly_synchronise(calm: dict[str, Any]) -> None:
    step_of(calm, 2, "exchange").update(exchange=10, sync=5000)
    recount(calm)
    (found,) = advice_on(calm)
    assert found.title == "Merge small steps" and found.gain_cycles == 500_000
    assert found.why.startswith("100 executions of 1 step synchronise for longer than they compute or exchange")


@pytest.mark.parametrize(
    ("kind", "title"), [("host", "Wait less for the host"), ("inter_ipu", "Move less between IPUs")]
)
def test_slow_transfers(calm: dict[str, Any], kind: str, title: str) -> None:
    step = calm["execution"]["steps"][0]
    step[kind] = calm["execution"]["cycles"]["total"] // 4
    recount(calm)
    (found,) = advice_on(calm)
    assert (found.title, found.gain_cycles, found.step) == (title, calm["execution"]["cycles"][kind], step["step"])


def test_advice_on_the_host_can_be_followed(calm: dict[str, Any]) -> None:
    """I/O tiles are no advice for copies of arguments, nor where they are in use."""
    steps = calm["execution"]["steps"]
    steps[0]["host"], steps[-1]["host"] = 0, calm["execution"]["cycles"]["total"]
    recount(calm)
    assert "variables on the device" in advice_on(calm)[0].action and "I/O" not in advice_on(calm)[0].action
    steps[1]["host"], steps[-1]["host"] = steps[-1]["host"] // 100, 0
    recount(calm)
    assert advice_on(calm)[0].action.startswith("Give some tiles to I/O")
    steps[1]["io"] = "alone"
    assert advice_on(calm)[0].action.startswith("I/O tiles fetch beside the others already")


def test_ipus_that_wait_for_one(make: Callable[..., dict[str, Any]]) -> None:
    value = make(ipus=2, tiles=16, layers=2)
    for step in value["execution"]["steps"]:
        if "per_ipu" in step:
            step["per_ipu"] = [[step["compute"], 0], [step["compute"] // 10, 0]]
    (found,) = [advice for advice in advice_on(value) if "IPUs" in advice.title]
    assert found.why.startswith("IPU 0 computes for ")


def test_what_does_not_fit_comes_first(make: Callable[..., dict[str, Any]]) -> None:
    value = make(tiles=64, layers=2, fullness=1.3)
    first = advice_on(value)[0]
    assert first.urgent and first.title == "Make it fit"
    assert first.why.startswith("What lives on tile ")
    assert first.why.endswith(" more than there is, in step 6, 'linalg.softmax of layer 0'.")
    assert first.action.startswith("Set availableMemoryProportion of linalg.matmul to 0.2. Use 2 IPUs")


def test_a_crowded_tile_names_its_largest_variables(calm: dict[str, Any]) -> None:
    memory = calm["compilation"]["memory"]
    memory.update(worst_tile=63, worst_bytes=int(0.95 * memory["limit"]))
    memory["per_tile"]["peak"] = [[1000, 63], [memory["worst_bytes"], 1]]
    calm["compilation"]["variables"][0].update(name="%table", bytes_worst_tile=400_000, tiles=[63, 63, 1])
    (found,) = advice_on(calm)
    assert found.title == "Spread what lies on tile 63"
    assert "The largest there: %table (391 KiB), " in found.why


def test_code_that_crowds_out_data(calm: dict[str, Any]) -> None:
    memory = calm["compilation"]["memory"]
    memory.update(worst_bytes=memory["limit"])
    memory["per_tile"]["peak"] = [[memory["limit"], 64]]
    memory["categories"]["exchange_code"] = [[memory["limit"] // 2, 64]]
    (found,) = advice_on(calm)
    assert found.title.startswith("Shrink the code on tile ")
    assert "most is exchange code (312 KiB)" in found.why


def test_advice_is_ordered_by_gain_and_small_gains_are_left_out(calm: dict[str, Any]) -> None:
    step_of(calm, 0, "compute").update(compute=100_000, balance=0.7)
    step_of(calm, 2, "compute").update(compute=100_000, balance=0.2)
    step_of(calm, 4, "compute").update(compute=100, balance=0.2)
    recount(calm)
    gains = [advice.gain_cycles for advice in advice_on(calm)]
    assert len(gains) == 2 and gains == sorted(gains, reverse=True)
