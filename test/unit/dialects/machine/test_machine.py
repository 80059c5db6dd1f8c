"""Named targets, and the machine that a target is."""

from dataclasses import fields

import pytest

from ipu_mlir.dialects.machine.machine import IPU1, IPU2, IPU21, MACHINES, Machine, machine_of, target_named
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import TargetError


def test_the_default_target_is_ipu2() -> None:
    assert target_named("ipu2") == Target()
    assert machine_of(Target()) == IPU2


@pytest.mark.parametrize("name", MACHINES)
def test_a_named_target_is_its_machine(name: str) -> None:
    assert machine_of(target_named(name, ipus=2)) == MACHINES[name]
    assert target_named(name, ipus=2).num_tiles == 2 * MACHINES[name].tiles_per_ipu


def test_a_target_of_ones_own_has_the_figures_of_ipu2_and_what_it_says_itself() -> None:
    machine = machine_of(Target(name="small", tiles_per_ipu=16, workers=4, clock_hz=1e9))
    assert (machine.tiles_per_ipu, machine.workers, machine.clock_hz) == (16, 4, 1e9)
    assert machine.amp_units == IPU2.amp_units


def test_cycles_of_a_sync_are_a_parameter_of_the_target() -> None:
    assert machine_of(Target(sync_cycles=0)).sync_cycles == 0
    with pytest.raises(TargetError, match="sync_cycles >= 0, got -1"):
        Target(sync_cycles=-1)


@pytest.mark.parametrize("field", ["tiles_per_ipu", "ipus", "workers", "sync_cycles", "io_tiles"])
@pytest.mark.parametrize("value", ["4", 1.5, None])
def test_figures_are_whole_numbers(field: str, value: object) -> None:
    with pytest.raises(TargetError, match=f"a target needs {field} as a whole number, got {value!r}"):
        Target(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["fast", 0, -1.0])
def test_the_clock_is_a_number(value: object) -> None:
    with pytest.raises(TargetError, match="a target needs clock_hz as a number above 0"):
        Target(clock_hz=value)  # type: ignore[arg-type]


def test_every_field_of_a_target_that_is_a_figure_is_one_of_the_machine() -> None:
    assert {field.name for field in fields(Target)} - {
        "ipus",
        "selection_order",
        "replicas",
        "io_tiles",
        "emulated",
    } <= {field.name for field in fields(Machine)}


def test_peaks_of_the_data_sheets() -> None:
    assert IPU1.peak_flops("f16") == pytest.approx(124.5e12, rel=0.001)
    assert IPU1.peak_flops("f32") == pytest.approx(31.1e12, rel=0.001)
    assert IPU2.peak_flops("f16") == pytest.approx(250e12, rel=0.002)
    assert IPU2.peak_flops("f32") == pytest.approx(62.5e12, rel=0.002)
    assert IPU21.peak_flops("f16") == pytest.approx(348.6e12, rel=0.001)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TargetError, match="no target is called 'ipu3'; there are ipu1, ipu2, ipu21"):
        target_named("ipu3")
    with pytest.raises(TargetError, match="ipus >= 1"):
        target_named("ipu2", ipus=0)
