"""The tree of options: types, defaults, names, dict and JSON; what it configures, and what it refuses."""

import json
import re
from pathlib import Path

import pytest

from ipu_mlir.tensorflow import ipu
from ipu_mlir.tensorflow.devices import LISTING, SYSTEM

config = ipu.config


@pytest.fixture(autouse=True)
def _unconfigured():
    yield
    config.reset_ipu_configuration()


def configured(**options):
    made = config.IPUConfig()
    for path, value in options.items():
        *groups, name = path.split("__")
        home = made
        for each in groups:
            home = getattr(home, each)
        setattr(home, name, value)
    made.configure_ipu_system()
    return made


@pytest.mark.parametrize(
    ("path", "value", "error", "message"),
    [
        ("allow_recompute", "yes", TypeError, "allow_recompute to 'yes', but it must be of type bool"),
        ("io_tiles.num_io_tiles", True, TypeError, "num_io_tiles to True, but it must be of type int"),
        ("auto_select_ipus", ["1"], TypeError, "must be of type Union\\[int, List\\[int\\], Tuple\\[int, ...\\]\\]"),
        ("matmuls", {}, TypeError, "a category of options and cannot be set"),
        ("allow_recomputation", True, ValueError, "Did you mean 'allow_recompute'?"),
        ("floating_point_behaviour.esr", "ON", TypeError, "must be of type StochasticRoundingBehaviour"),
    ],
)
def test_what_does_not_fit_is_refused(path, value, error, message):
    home = config.IPUConfig()
    *groups, name = path.split(".")
    for each in groups:
        home = getattr(home, each)
    with pytest.raises(error, match=message):
        setattr(home, name, value)


def test_an_option_that_is_read_and_does_not_exist_is_named():
    with pytest.raises(AttributeError, match="Did you mean 'scheduling'"):
        _ = config.IPUConfig().schedulin
    with pytest.raises(ValueError, match=r"'matmuls\.options' is not a valid attribute"):
        config.IPUConfig().get_attribute_metadata("matmuls.options")


def test_metadata_of_options_and_categories():
    about = config.IPUConfig().get_attribute_metadata("floating_point_behaviour.esr")
    assert (about.name, about.type) == ("floating_point_behaviour.esr", "StochasticRoundingBehaviour")
    assert about.default is config.StochasticRoundingBehaviour.OFF and not about.deprecated
    assert about.check_type(config.StochasticRoundingBehaviour.ON)
    category = config.IPUConfig().get_attribute_metadata("matmuls")
    assert (category.name, category.type, category.default) == ("matmuls", None, None)
    with pytest.raises(TypeError, match="is a category and has no value"):
        category.check_type(1)


def test_a_deprecated_option_is_another_name_of_the_new_one(caplog):
    made = config.IPUConfig()
    made.optimizations.enable_fast_math = True
    assert made.optimizations.math.fast and made.optimizations.enable_fast_math
    assert "optimizations.enable_fast_math is deprecated: use optimizations.math.fast" in caplog.text
    assert "enable_fast_math" not in made.to_dict()["optimizations"]


def test_dict_and_json_hold_all_of_it():
    made = config.IPUConfig()
    made.scheduling.algorithm = config.SchedulingAlgorithm.POST_ORDER
    made.matmuls.poplar_options = {"availableMemoryProportion": "0.3"}
    made.auto_select_ipus = (1, 2)
    by_dict, by_json = config.IPUConfig(), config.IPUConfig()
    by_dict.from_dict(made.to_dict())
    by_json.from_json(made.to_json())
    assert by_dict.to_dict() == made.to_dict()
    assert by_json.to_json() == made.to_json()
    with pytest.raises(ValueError, match=r"scheduling\.algorithm is 'BEST', expected one of CHOOSE_BEST"):
        by_json.from_dict({"scheduling": {"algorithm": "BEST"}})


def test_what_was_given_may_change_afterwards():
    options = {"availableMemoryProportion": "0.3"}
    made = configured(matmuls__poplar_options=options)
    options.clear()
    made.auto_select_ipus = 4
    assert SYSTEM.device().partition == (("matmul_memory_proportion", 0.3),)
    assert ipu.utils.get_num_of_ipus_in_device("/device:IPU:0") == 1


def test_devices_by_number_of_ipus():
    configured(auto_select_ipus=[1, 2], ipu_model__tiles_per_ipu=16, ipu_model__version="ipu1")
    assert [SYSTEM.device(number).members for number in (0, 1)] == [(0,), (1, 2)]
    target = SYSTEM.device(1).target
    assert (target.name, target.ipus, target.tiles_per_ipu) == ("ipu1", 2, 16)
    assert len(config.get_ipu_config()) == 2
    with pytest.raises(ValueError, match="there is no /device:IPU:2"):
        ipu.utils.get_num_of_ipus_in_device("/device:IPU:2")


def test_devices_by_the_listing():
    assert [len(each) for each in LISTING] == [1] * 16 + [2] * 8 + [4] * 4 + [8] * 2 + [16]
    configured(select_ipus=[0, 24])
    assert SYSTEM.device(1).members == (0, 1, 2, 3)


def test_io_tiles_belong_to_the_machine():
    configured(io_tiles__num_io_tiles=32)
    assert SYSTEM.device().target.io_tiles == 32


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auto_select_ipus": 1, "select_ipus": 1}, "both auto_select_ipus=\\[1\\] and select_ipus=\\[1\\]"),
        ({"auto_select_ipus": [1, 0]}, "a device has at least 1 IPU"),
        ({"select_ipus": [3, 3]}, "names a group of IPUs twice"),
        ({"select_ipus": 31}, "numbers from 0 to 30"),
        ({"device_connection__type": config.DeviceConnectionType.NEVER}, "needs device_connection.version"),
        ({"device_connection__version": "ipu2"}, "with ALWAYS leave it empty"),
        ({"ipu_model__version": ""}, "ipu_model.version is empty"),
        ({"io_tiles__place_ops_on_io_tiles": True}, "num_io_tiles == 0"),
        ({"io_tiles__available_memory_proportion": 1.5}, "above 0 and at most 1"),
        ({"norms__experimental__distributed_batch_norm_replica_group_size": 0}, "must be at least 1"),
        (
            {"norms__experimental__distributed_batch_norm_replica_group_size": 2, "io_tiles__num_io_tiles": 32},
            "without I/O tiles only",
        ),
        (
            {
                "experimental__multi_replica_distribution__process_count": 2,
                "experimental__multi_replica_distribution__process_index": 2,
            },
            "expected a number from 0 to 1",
        ),
        ({"matmuls__poplar_options": {"availableMemoryProportion": "2"}}, "above 0 and at most 1"),
        ({"optimizations__maximum_all_gather_buffer_size": -1}, "a number of bytes from 0 on, got -1"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        configured(**options)
    assert not len(SYSTEM)


def test_select_ipus_needs_a_machine(monkeypatch):
    monkeypatch.setenv("TF_POPLAR_FLAGS", "--use_ipu_model")
    assert ipu.utils.running_on_ipu_model()
    with pytest.raises(ValueError, match="the IPU model has none"):
        configured(select_ipus=0)


def test_configuring_twice():
    made = configured(auto_select_ipus=2)
    config.configure_ipu_system(made, reset_configuration=False)
    made.auto_select_ipus = 4
    with pytest.raises(RuntimeError, match="configured already"):
        config.configure_ipu_system(made, reset_configuration=False)
    config.reset_ipu_configuration()
    with pytest.raises(RuntimeError, match="no IPU system is configured"):
        config.get_ipu_config()
    with pytest.raises(TypeError, match="takes an IPUConfig, got dict"):
        config.configure_ipu_system({})


@pytest.mark.parametrize(
    ("options", "modes"),
    [
        ({}, {}),
        ({"nanoo": True}, {"rounding": "nearest", "overflow": "nan", "exceptions": ()}),
        ({"esr": "ON"}, {"rounding": "stochastic", "overflow": "clip", "exceptions": ()}),
        ({"esr": "REPLICA_IDENTICAL_ONLY"}, {"rounding": "identical", "overflow": "clip", "exceptions": ()}),
        ({"oflo": True, "inv": True}, {"rounding": "nearest", "overflow": "clip", "exceptions": ("inv", "oflo")}),
        ({"set_all": True}, {"rounding": "stochastic", "overflow": "nan", "exceptions": ("inv", "div0", "oflo")}),
    ],
)
def test_options_of_floats_are_those_of_the_device(options, modes):
    kinds = config.StochasticRoundingBehaviour
    given = {name: kinds[each] if name == "esr" else each for name, each in options.items()}
    configured(**{f"floating_point_behaviour__{name}": each for name, each in given.items()})
    assert dict(SYSTEM.device().float_modes) == modes


def test_library_options_without_a_meaning_here_say_why(caplog):
    configured(convolutions__poplar_options={"planConstraints": "{}"}, slices__poplar_options={"usedForUpdate": "true"})
    why = "convolutions.poplar_options: planConstraints has no effect here: the planner takes the parts with the fewest"
    assert why in caplog.text and "slices.poplar_options: usedForUpdate has no effect here: a plan" in caplog.text


@pytest.mark.parametrize(
    ("group", "options", "sums"),
    [
        ("convolutions", {"partialsType": "half"}, {"convolutions": "native"}),
        ("matmuls", {"partialsType": "float"}, {"matmuls": "f32"}),
        ("matmuls", {"use16BitPartials": "true"}, {"matmuls": "native"}),
        ("pooling", {}, {}),
    ],
)
def test_types_of_partial_sums(group, options, sums):
    configured(**{f"{group}__poplar_options": options})
    assert dict(SYSTEM.device().sums) == sums


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partialsType": "double"}, "partialsType is 'double', expected one of half, float16, float, float32"),
        ({"use16BitPartials": "yes"}, "use16BitPartials is 'yes', expected one of true, false"),
        ({"availableMemory": "0.3"}, "availableMemory is no option of the libraries; there are availableMemoryProp"),
    ],
)
def test_library_options_that_there_are_not(options, message):
    with pytest.raises(ValueError, match=f"matmuls.poplar_options: {message}"):
        configured(matmuls__poplar_options=options)


def test_synthetic_data_by_category(monkeypatch):
    kinds = ipu.utils.SyntheticDataCategory
    assert not ipu.utils.use_synthetic_data_for(kinds.Infeed)
    monkeypatch.setenv("TF_POPLAR_FLAGS", "--synthetic_data_categories=infeed,seed")
    assert [ipu.utils.use_synthetic_data_for(kind) for kind in kinds] == [True, False, True, False, False]
    monkeypatch.setenv("TF_POPLAR_FLAGS", "--use_synthetic_data --use_ipu_model")
    assert all(map(ipu.utils.use_synthetic_data_for, kinds))
    with pytest.raises(TypeError, match="expected a SyntheticDataCategory"):
        ipu.utils.use_synthetic_data_for("infeed")


def test_options_of_the_engine_are_known(monkeypatch, caplog):
    for name, instead in (("autoReport.al", "did you mean autoReport.all?"), ("reports", "there are autoReport.all")):
        with pytest.raises(ValueError, match=f"{name} is no option of the engine; {re.escape(instead)}"):
            configured(compilation_poplar_options={name: "true"})
    with pytest.raises(ValueError, match=r"autoReport\.all is 'yes', expected 'true' or 'false'"):
        configured(compilation_poplar_options={"autoReport.all": "yes"})
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", '{"opt.maxCompilationThreads": "2"}')
    configured(compilation_poplar_options={"debug.computeInstrumentationLevel": "tile"}, gcl_poplar_options={"m": "1"})
    configured()
    said = [record.getMessage().partition(" has no effect here")[0] for record in caplog.records]
    options = ("opt.maxCompilationThreads", "debug.computeInstrumentationLevel")
    assert sorted(said) == sorted(["gcl_poplar_options: m", *(f"option {name} of the engine" for name in options)])


def test_flags_are_known(monkeypatch, caplog):
    monkeypatch.setenv("TF_POPLAR_FLAGS", "--use_ipu_modl --use_synthetic_data --max_infeed_threads=2")
    assert not ipu.utils.running_on_ipu_model() and ipu.utils.use_synthetic_data_for(
        ipu.utils.SyntheticDataCategory.Infeed
    )
    ends = ("--use_ipu_modl has no effect here; did you mean --use_ipu_model?", "use_ipu_model, use_synthetic_data")
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2 and all(line.endswith(end) for line, end in zip(said, ends, strict=True))


def test_reports_are_asked_for_by_options_of_the_engine(monkeypatch):
    assert configured(compilation_poplar_options={"autoReport.directory": "here"}) and SYSTEM.device().reports == ""
    configured(compilation_poplar_options={"autoReport.all": "true", "autoReport.directory": "here"})
    assert SYSTEM.device().reports == "here"
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", json.dumps({"autoReport.outputGraphProfile": "true"}))
    configured()
    assert Path(SYSTEM.device().reports) == Path()
