"""Errors that are TensorFlow's as well as ours."""

import pickle

import pytest

pytest.importorskip("tensorflow")
import tensorflow as tf

from ipu_mlir.dialects.support.errors import CompileError, Settings
from ipu_mlir.tensorflow.errors import as_invalid_argument


def test_an_error_of_both_classes_can_be_raised_in_another_process():
    error = as_invalid_argument(CompileError("too large", settings=(Settings(ipus=2),)))
    other = pickle.loads(pickle.dumps(error))
    assert type(other) is type(error) and str(other) == "too large" and vars(other) == vars(error)
    assert isinstance(other, CompileError) and isinstance(other, tf.errors.InvalidArgumentError)
