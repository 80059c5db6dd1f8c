"""Named targets, and the machine that a target is."""

import re
from dataclasses import fields, replace

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.attributes import target_from_attr, target_to_attr
from ipu_mlir.dialects.machine.figures import ALIASES, CHIPS, FIGURES
from ipu_mlir.dialects.machine.machine import IPU1, IPU2, IPU21, MACHINES, Machine, machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import TargetError


def test_the_default_target_is_ipu2() -> None:
    assert Target.named("ipu2") == Target.named("mk2") == Target()
    assert machine_of(Target()) == IPU2


@pytest.mark.parametrize("name", MACHINES)
def test_a_named_target_is_its_machine(name: str) -> None:
    assert machine_of(Target.named(name, ipus=2)) == MACHINES[name]
    assert Target(name=name, ipus=2) == Target.named(name, ipus=2)
    assert Target.named(name, ipus=2).num_tiles == 2 * MACHINES[name].tiles_per_ipu


@pytest.mark.parametrize("alias", ALIASES)
def test_other_names_of_chips_are_the_same_chips(alias: str) -> None:
    for written in (alias, alias.upper(), alias.title()):
        assert Target(written) == Target(ALIASES[alias])


def test_a_target_has_the_figures_of_its_chip_and_those_that_are_given() -> None:
    machine = machine_of(Target.named("bow", tiles_per_ipu=16, workers=4, host_read_bytes_per_second=5e9))
    assert (machine.tiles_per_ipu, machine.workers, machine.host_read_bytes_per_second) == (16, 4, 5e9)
    assert replace(machine, tiles_per_ipu=1472, workers=6, host_read_bytes_per_second=5.5e9) == IPU21


def test_every_figure_has_a_value_and_a_source_for_every_chip() -> None:
    assert [*FIGURES] == [field.name for field in fields(Machine)][1:]
    assert FIGURES.keys() < {field.name for field in fields(Target)}
    for name, figure in FIGURES.items():
        for chip in CHIPS:
            assert figure.source(chip), name
            assert type(figure.of(chip)) is figure.kind, name


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_set_and_is_checked(name: str) -> None:
    figure = FIGURES[name]
    value = not figure.of("ipu2") if figure.kind is bool else figure.kind(3)
    target = Target(**{name: value})
    assert getattr(machine_of(target), name) == value
    with ipu.context(), ir.Location.unknown():
        assert target_from_attr(target_to_attr(target)) == target
    for wrong in ("fast", None, -1, float("nan"), float("inf")):
        with pytest.raises(TargetError, match=f"a target needs {name} "):
            Target(**{name: wrong})  # type: ignore[arg-type]


def test_cycles_of_a_sync_are_a_parameter_of_the_target() -> None:
    assert machine_of(Target(sync_cycles=0)).sync_cycles == 0
    with pytest.raises(TargetError, match="sync_cycles >= 0, got -1"):
        Target(sync_cycles=-1)


def test_ipus_are_not_more_than_pairs_of_them_have_room_for() -> None:
    with pytest.raises(TargetError, match="at most 4,096 IPUs, got 99,999; copies of a program on more are replicas"):
        Target(ipus=99_999)


@pytest.mark.parametrize("field", ["tiles_per_ipu", "ipus", "workers", "sync_cycles", "io_tiles"])
@pytest.mark.parametrize("value", ["4", 1.5, None])
def test_figures_are_whole_numbers(field: str, value: object) -> None:
    with pytest.raises(TargetError, match=f"a target needs {field} as a whole number, got {value!r}"):
        Target(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["fast", 0, -1.0])
def test_the_clock_is_a_number(value: object) -> None:
    with pytest.raises(TargetError, match="a target needs clock_hz as a number above 0"):
        Target(clock_hz=value)  # type: ignore[arg-type]


def test_peaks_of_the_data_sheets() -> None:
    assert IPU1.peak_flops("f16") == pytest.approx(124.5e12, rel=0.001)
    assert IPU1.peak_flops("f32") == pytest.approx(31.1e12, rel=0.001)
    assert IPU2.peak_flops("f16") == pytest.approx(250e12, rel=0.002)
    assert IPU2.peak_flops("f32") == pytest.approx(62.5e12, rel=0.002)
    assert IPU21.peak_flops("f16") == pytest.approx(348.6e12, rel=0.001)


@pytest.mark.parametrize("name", ["ipu3", "small", "Bow-2000", "", None, 2])
def test_an_unknown_name_is_refused(name: object) -> None:
    message = f"no chip is called {name!r}; there are ipu1 (mk1), ipu2 (mk2), ipu21 (bow), whose figures can be changed"
    for make in (Target, Target.named):
        with pytest.raises(TargetError, match=re.escape(message)):
            make(name)  # type: ignore[arg-type]


def test_there_is_at_least_one_chip() -> None:
    with pytest.raises(TargetError, match="ipus >= 1"):
        Target.named("ipu2", ipus=0)
