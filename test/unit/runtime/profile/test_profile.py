"""The profile of compiled programs: its numbers add up, and its JSON is what the schema says."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.runtime.profile.json_form import ProfileFormatError
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.runtime.profile.schema import PATH, TABLES_BEGIN, described_fields, field_tables, json_schema

LAYER = """
func.func @main(%x: tensor<12x20xf32> loc("x"), %w: tensor<20x9xf32> loc("w"), %n: tensor<index>) -> tensor<12x9xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<12x9xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<12x9xf32>) -> tensor<12x9xf32>
  %y = linalg.matmul ins(%x, %w : tensor<12x20xf32>, tensor<20x9xf32>) outs(%start : tensor<12x9xf32>)
    -> tensor<12x9xf32>
  %z = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %y) -> tensor<12x9xf32> {
    %e = tensor.empty() : tensor<12x9xf32>
    %tanh = linalg.tanh ins(%a : tensor<12x9xf32>) outs(%e : tensor<12x9xf32>) -> tensor<12x9xf32>
    scf.yield %tanh : tensor<12x9xf32>
  }
  %times = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %c0 to %times step %c1 iter_args(%a = %z) -> tensor<12x9xf32> {
    %e = tensor.empty() : tensor<12x9xf32>
    %exp = linalg.exp ins(%a : tensor<12x9xf32>) outs(%e : tensor<12x9xf32>) -> tensor<12x9xf32>
    scf.yield %exp : tensor<12x9xf32>
  }
  return %r : tensor<12x9xf32>
}
"""
TARGETS = (
    ipu.Target(tiles_per_ipu=1),
    ipu.Target(tiles_per_ipu=7),
    ipu.Target(tiles_per_ipu=5, ipus=3),
)


def inputs(times: int) -> list[np.ndarray]:
    return [np.zeros((12, 20), np.float32), np.zeros((20, 9), np.float32), np.array(times, np.int64)]


@pytest.fixture(scope="module", params=TARGETS, ids=lambda target: f"{target.ipus}x{target.tiles_per_ipu}")
def profile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Profile:
    path = tmp_path_factory.mktemp("profile") / "layer.mlir"
    path.write_text(LAYER)
    return ipu.compile(path, target=request.param).profile(inputs(times=4))


def test_cycles_are_the_sum_over_steps(profile: Profile) -> None:
    cycles, steps = profile.execution.cycles, profile.execution.steps
    for kind in ("compute", "exchange", "inter_ipu", "sync", "host"):
        assert getattr(cycles, kind) == sum(step.count * getattr(step, kind) for step in steps)
    assert profile.total_cycles == cycles.total == sum(step.count * step.cycles for step in steps)
    assert profile.execution.seconds == cycles.total / profile.target.clock_hz
    assert profile.execution.bytes_exchanged == sum(step.count * step.bytes_received for step in steps)


def test_cycles_of_ops_are_those_of_steps(profile: Profile) -> None:
    cycles = profile.execution.cycles
    assert sum(op.compute_cycles for op in profile.ops) == cycles.compute
    assert sum(op.exchange_cycles for op in profile.ops) == cycles.exchange + cycles.inter_ipu
    assert all(op.cycles == op.compute_cycles + op.exchange_cycles for op in profile.ops)
    assert sum(op.flops for op in profile.ops) == profile.execution.flops


def test_flops_are_those_of_the_program(profile: Profile) -> None:
    """A product may be cut along the sum: then its partial sums are added, too."""
    needed = 2 * 12 * 9 * 20 + 3 * 12 * 9 + 4 * 12 * 9
    assert needed <= profile.execution.flops <= 1.2 * needed
    assert profile.execution.flops == needed or profile.target.num_tiles > 1
    share = profile.execution.share_of_peak
    peak = profile.target.num_tiles * 32 * profile.target.clock_hz
    assert share.f16 is None
    assert share.f32 == pytest.approx(profile.execution.flops_per_second / peak)


@pytest.mark.parametrize(("element", "peak"), [("f8E4M3FN", "f8"), ("f8E5M2", "f8"), ("bf16", "f16"), ("f16", "f16")])
def test_products_of_narrow_floats_have_a_peak_of_their_own(element: str, peak: str) -> None:
    text = f"""func.func @main(%x: tensor<32x64x{element}>, %w: tensor<64x16x{element}>) -> tensor<32x16xf32> {{
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<32x16xf32>
      %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x16xf32>) -> tensor<32x16xf32>
      %y = linalg.matmul ins(%x, %w : tensor<32x64x{element}>, tensor<64x16x{element}>)
          outs(%start : tensor<32x16xf32>) -> tensor<32x16xf32>
      return %y : tensor<32x16xf32> }}"""
    found = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4)).profile()
    peaks, shares = found.target.peak_flops, found.execution.share_of_peak
    assert peaks.f8 == 2 * peaks.f16 == 8 * peaks.f32
    assert [kind for kind in ("f8", "f16", "f32") if getattr(shares, kind)] == [peak]
    assert getattr(shares, peak) == pytest.approx(found.execution.flops_per_second / getattr(peaks, peak))
    (product,) = [op for op in found.ops if op.name == "linalg.matmul"]
    bytes_each = 1 if peak == "f8" else 2
    assert (32 * 64 + 64 * 16) * bytes_each <= product.bytes <= 4 * (32 * 64 + 64 * 16) * bytes_each + 4 * 4 * 32 * 16


def test_memory_is_the_sum_of_its_categories_on_every_tile(profile: Profile) -> None:
    memory = profile.compilation.memory
    peak = profile.tile_bytes()
    assert len(peak) == profile.target.num_tiles
    categories = [np.repeat(*np.array(each).T) for each in vars(memory.categories).values()]
    np.testing.assert_array_equal(np.sum(categories, axis=0), peak)
    assert (int(peak.sum()), int(peak.max()), int(peak.argmax())) == (
        memory.total_bytes,
        memory.worst_bytes,
        memory.worst_tile,
    )
    assert (profile.tile_bytes(including_gaps=False) <= peak).all()


def test_steps_compute_sets_and_tree_speak_of_the_same(profile: Profile) -> None:
    compilation, steps = profile.compilation, profile.compilation.steps
    assert [step.id for step in steps] == list(range(len(steps))) == [step.step for step in profile.execution.steps]
    assert [each.step for each in compilation.compute_sets] == [x.id for x in steps if x.kind == "compute"]
    assert profile.num_vertices == sum(family.vertices for each in compilation.compute_sets for family in each.families)
    found: dict[int, int | None] = {}
    pending = [compilation.program_tree]
    while pending:
        node = pending.pop()
        if node.step is not None:
            found[node.step] = node.count
        pending += node.children
    assert found == {step.step: step.count for step in profile.execution.steps}
    assert all(step.op is None or step.id in profile.ops[step.op].steps for step in steps)


def test_loops_count_their_iterations(profile: Profile) -> None:
    runs = {op.name: op.executions for op in profile.ops}
    assert profile.execution.measured
    assert (runs["linalg.matmul"], runs["linalg.tanh"], runs["linalg.exp"]) == (1, 3, 4)


def test_ops_have_the_names_and_places_of_the_source(profile: Profile) -> None:
    places = {op.name: op.location for op in profile.ops}
    assert places["linalg.matmul"] == "layer.mlir:9:8"
    assert places["linalg.tanh"] == "layer.mlir:13:13"
    assert profile.program.source == "layer.mlir"
    assert "unknown" not in places
    (argument,) = [each for each in profile.compilation.variables if each.name == "%x"]
    assert (argument.category, argument.type) == ("argument", "tensor<12x20xf32>")


def test_exchanges_have_the_names_of_what_they_copy(profile: Profile) -> None:
    names = {step.name for step in profile.compilation.steps if step.name.startswith("exchange")}
    if profile.target.ipus == 1:
        assert names == ({"exchange of %w", "exchange of linalg.generic"} if profile.target.num_tiles > 1 else set())
    else:
        assert names <= {"exchange of %w", "exchange of linalg.generic"}


def test_balance_is_the_mean_over_the_slowest(profile: Profile) -> None:
    families = {each.step: each.families for each in profile.compilation.compute_sets}
    busy = 0
    for step in profile.execution.steps:
        cycles = sum(family.cycles_total for family in families.get(step.step, ()))
        busy += step.count * cycles
        if step.compute:
            assert step.balance == pytest.approx(cycles / profile.target.num_tiles / step.compute)
    assert profile.execution.tile_balance == pytest.approx(
        busy / profile.target.num_tiles / profile.execution.cycles.compute
    )


def test_every_ipu_has_its_own_cycles(profile: Profile) -> None:
    for step in profile.execution.steps:
        if profile.target.ipus == 1:
            assert step.per_ipu is None
        else:
            assert step.per_ipu is not None and len(step.per_ipu) == profile.target.ipus
            worst = [max(each) for each in zip(*step.per_ipu, strict=True)]
            assert worst == [step.compute, step.exchange, step.inter_ipu]


def test_the_host_hands_over_arguments_and_takes_results(profile: Profile) -> None:
    first, last = profile.compilation.steps[-2:]
    assert (first.name, last.name) == ("arguments from the host", "results to the host")
    tree = profile.compilation.program_tree.children
    assert (tree[0].step, tree[-1].step) == (first.id, last.id)
    executed = profile.execution.steps
    assert executed[first.id].host > 0 and executed[last.id].host > 0
    if profile.target.ipus == 1:
        machine = machine_of(ipu.Target(tiles_per_ipu=profile.target.tiles_per_ipu))
        held = 4 * (12 * 20 + 20 * 9) + 8
        assert executed[first.id].host == -(-held * machine.clock_hz // machine.host_write_bytes_per_second)


def test_without_inputs_nothing_is_measured() -> None:
    executable = ipu.compile(LAYER, target=TARGETS[1])
    static = executable.profile()
    assert not static.execution.measured
    (place,) = static.execution.unknown_counts
    assert f"not known how often control flow runs at {place}: taken once" in static.summary()
    assert static.total_cycles == executable.profile(inputs(times=1)).total_cycles
    assert executable.profile(inputs(times=9)).total_cycles > static.total_cycles


def test_json_is_what_the_schema_says(profile: Profile, tmp_path: Path) -> None:
    profile.save(tmp_path / "out.json")
    value = json.loads((tmp_path / "out.json").read_text())
    schema = json.loads(PATH.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(value, schema)
    assert Profile.from_json(value) == profile
    del value["execution"]["cycles"]["sync"]
    with pytest.raises(jsonschema.ValidationError, match="'sync' is a required property"):
        jsonschema.validate(value, schema)


def test_the_shipped_schema_is_that_of_the_classes() -> None:
    assert json.loads(PATH.read_text()) == json_schema(), "python -m ipu_mlir.runtime.profile.schema writes it anew"
    assert described_fields(Profile)["ops"] == "the ops of the source, in program order."


def test_the_page_has_a_row_for_every_field() -> None:
    page = (Path(__file__).parents[4] / "docs" / "profile.md").read_text()
    assert page.partition(TABLES_BEGIN)[2] == "\n" + field_tables(), (
        "python -m ipu_mlir.runtime.profile.schema writes it anew"
    )


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 2, "version 2, expected 'ipu-mlir.profile' in version 4"),
        (["execution", "flops"], "many", "execution.flops is 'many'; expected a whole number"),
        (["execution", "seconds"], True, "execution.seconds is True; expected a number"),
        (["ops"], {}, "ops is {}; expected a list"),
        (["target"], [], "target is .*; expected an object"),
        (["compilation", "memory", "per_tile", "peak"], [[1]], r"peak\[0\] is \[1\]; expected a list of 2"),
        (["compilation", "program_tree", "kind"], "goto", "program_tree.kind is 'goto'; expected one of"),
        (["program"], {"entry": "main"}, "the profile has no program.source"),
    ],
)
def test_what_is_no_profile_is_refused(profile: Profile, path: list[str], value: object, message: str) -> None:
    whole = profile.to_json()
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(ProfileFormatError, match=message):
        Profile.from_json(whole)


def test_the_summary_says_where_cycles_go(profile: Profile) -> None:
    text = profile.summary()
    assert f"{profile.total_cycles:,}" in text
    assert ("links between IPUs" in text) is (profile.execution.cycles.inter_ipu > 0)
    assert "fits" in text and "linalg.matmul at layer.mlir:9:8" in text
    assert repr(profile) == f"<Profile of main on ipu2: {profile.total_cycles:,} cycles>"
