"""``ipu.sweep``: every combination once, figures that follow from it, and what is refused."""

import os

import pytest

import ipu_mlir as ipu


def scaled(x: ipu.Tensor) -> ipu.Tensor:
    return x * 2.0 + 1.0


def spec(n: int) -> list[ipu.TensorSpec]:
    return [ipu.TensorSpec((n,))]


def test_settings_of_machine_compile_and_arguments_vary_together() -> None:
    over = {"n": (600, 80_000), "chip": ("mk2", "bow"), "tiles_per_ipu": (2,), "available_memory_proportion": (0.5,)}
    found = ipu.sweep(scaled, args=spec, over=over)
    rows = found.rows()
    assert [(row["n"], row["chip"]) for row in rows] == [(600, "mk2"), (600, "bow"), (80_000, "mk2"), (80_000, "bow")]
    assert rows[0]["cycles"] == rows[1]["cycles"] < rows[2]["cycles"]
    assert rows[1]["seconds"] < rows[0]["seconds"]
    assert found.fastest is not None
    assert found.fastest.setting["chip"] == "bow"
    assert str(found).count("\n") == len(rows)


def test_what_does_not_fit_is_marked_and_is_not_the_fastest() -> None:
    found = ipu.sweep(scaled, args=spec(200_000), over={"tiles_per_ipu": (1, 64)})
    assert [each.fits for each in found] == [False, True]
    assert found.fastest is found.outcomes[1]
    assert "does not fit" in str(found)
    assert ipu.sweep(scaled, args=spec(200_000), over={"tiles_per_ipu": (1,)}).fastest is None


def test_unknown_settings_and_two_machines_are_refused() -> None:
    with pytest.raises(ipu.CompileError, match=r"no setting 'batch'.*parameters of args \(n\)"):
        ipu.sweep(scaled, args=spec, over={"batch": (1,)})
    with pytest.raises(ipu.CompileError, match="the chip of a target does not vary"):
        ipu.sweep(scaled, args=spec(4), over={"chip": ("mk2",)}, target=ipu.Target())
    with pytest.raises(ipu.CompileError, match="with partials_type='f64': "):
        ipu.sweep(scaled, args=spec(4), over={"partials_type": ("f64",)})


def test_processes_give_what_one_gives_and_end_alone() -> None:
    over = {"n": (600, 7, 40), "partials_type": ("f32", "f64")}
    one, two = (ipu.sweep(scaled, args=spec, over=over, processes=processes) for processes in (1, 2))
    assert one == two
    assert [each.setting["n"] for each in two] == [600, 7, 40]
    assert [setting for setting, _ in two.refused] == [{"n": n, "partials_type": "f64"} for n in (600, 7, 40)]
    assert "refused with n=7, partials_type='f64': option 'partials'" in str(two)


def test_a_process_that_dies_is_refused_and_a_mistake_is_raised() -> None:
    def dies(x: ipu.Tensor) -> ipu.Tensor:
        return os._exit(3) if x.shape[0] == 7 else x + 1.0

    def fails(x: ipu.Tensor) -> ipu.Tensor:
        raise ZeroDivisionError

    found = ipu.sweep(dies, args=spec, over={"n": (7, 8)}, processes=2)
    assert found.refused == (({"n": 7}, "its process ended with exit status 3"),)
    with pytest.raises(ZeroDivisionError):
        ipu.sweep(fails, args=spec, over={"n": (7, 8)}, processes=2)
