"""The machine that the flags of tools name."""

import pytest

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import TargetError
from ipu_mlir.tools.command_line import Parser, UsageError
from ipu_mlir.tools.machine_flags import add_chip_flags, machine


def named(*flags: str, of_module: Target | None = None) -> Target:
    parser = Parser("tool", "A tool.")
    add_chip_flags(parser)
    return machine(parser.parse_args(list(flags)), of_module or Target())


@pytest.mark.parametrize("name", ["mk1", "mk2", "bow", "ipu21"])
def test_a_chip_has_all_of_its_figures(name: str) -> None:
    assert named("--chip", name, "--ipus", "4") == Target.named(name, ipus=4)


def test_every_figure_can_be_another_one() -> None:
    flags = ("--figure", "host_read_bytes_per_second=8e9", "--figure=amp-units=8", "--figure", "amp_takes_f8=false")
    expected = Target.named("bow", host_read_bytes_per_second=8e9, amp_units=8, amp_takes_f8=False)
    assert named("--chip", "bow", *flags) == expected
    assert named("--figure", "clock_hz=1e9", of_module=Target.named("mk1")) == Target.named("mk1", clock_hz=1e9)


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ("speed=3", "there is no figure 'speed' of the machine; there are tiles_per_ipu, bytes_per_tile, clock_hz, "),
        ("clock_hz=fast", "clock_hz is a number of Hz, got 'fast'"),
        ("workers", "workers is a number of threads, got ''"),
        ("amp_takes_f8=2", "amp_takes_f8 is true or false, got '2'"),
    ],
)
def test_wrong_figures_are_wrong_usage(figure: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        named("--figure", figure)


@pytest.mark.parametrize(
    "figure", ["clock_hz=0", "workers=1.5", "streaming_bytes=-1", "host_read_bytes_per_second=nan"]
)
def test_figures_that_no_machine_has_are_refused(figure: str) -> None:
    with pytest.raises(TargetError, match="a target needs"):
        named("--figure", figure)
