"""Programs of all kinds as kernels and in blocks, however small, held to what their statements declare.

A part of them is in every test run, the rest in the slow tests: all cases and programs of the corpus on one, two and
four threads. ``random_programs`` has random programs.
"""

import re

import numpy as np
import pytest
from support.case import TARGETS, Case, assert_close
from support.compare import disagreements
from support.corpus import FOLDER, programs
from test_cases import CASES, RAGGED

import ipu_mlir as ipu
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

THREADS = (4, 2, 1)
EVERY = 16  # case is in every test run
SHORT = {
    "cases": list(CASES)[::EVERY],
    "corpus": ["tf_matmul", "jax_math_zoo", "pt_mlp_train_onehot_linalg"],
    "texts": ["jax_cnn_train"],
}
TEXTS = sorted({path.parent.name for path in FOLDER.glob("*/module.mlir")} - {*programs()})
"""Programs of the corpus without arguments and results."""


def chosen(kind: str, names: list[str]) -> list[object]:
    """All ``names`` with numbers of threads; what is not in every test run is slow."""
    short = SHORT[kind]
    return [
        pytest.param(name, threads, marks=[] if name in short and threads == THREADS[0] else pytest.mark.slow)
        for name in names
        for threads in THREADS
    ]


@pytest.fixture(autouse=True)
def _on_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled with checks has so many threads as the test says."""
    threads = request.node.callspec.params["threads"]
    checked = TranslatorOptions.with_checks
    monkeypatch.setattr(TranslatorOptions, "with_checks", staticmethod(lambda: checked(threads)))


@pytest.mark.parametrize(("name", "threads"), chosen("cases", list(CASES)))
def test_cases(name: str, threads: int) -> None:
    case: Case = CASES[name]
    executable = ipu.compile(case.text, target=TARGETS[RAGGED], kernels="checked")
    results = executable.run(case.inputs)
    assert_close(results, case.expected_results(), max(case.sum_length, 1), "checked run against NumPy")


@pytest.mark.parametrize(("name", "threads"), chosen("corpus", list(programs())))
def test_programs_of_the_corpus(name: str, threads: int) -> None:
    program = programs()[name]
    results = ipu.compile(program.mlir, kernels="checked").run(program.inputs)
    assert disagreements(results, program.expected, program.atol, program.ill_conditioned) == []


@pytest.mark.parametrize(("name", "threads"), chosen("texts", TEXTS))
def test_programs_without_arguments_of_their_own(name: str, threads: int) -> None:
    text = (FOLDER / name / "module.mlir").read_text()
    if re.search(r"dense_resource<|__elided__", text):
        pytest.skip("its weights are left out")
    executable = ipu.compile(text, kernels="checked")
    generator = np.random.default_rng(0)
    inputs = [np.asarray(generator.integers(0, 2, s.shape)).astype(s.dtype) for s in executable.argument_specs]
    executable.run(inputs)
