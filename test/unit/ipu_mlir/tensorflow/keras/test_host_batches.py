"""Batches are taken in order, and those beside each other together that are alike."""

import numpy as np
import pytest

pytest.importorskip("tensorflow")
pytest.importorskip("keras")
import tensorflow as tf
from keras.src.trainers.data_adapters import ArrayDataAdapter

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow.keras.host_batches import ArrayBatches, Batches, first, in_groups, take


def rows(count, batch):
    x = np.arange(count * 2, dtype=np.float32).reshape(count, 2)
    return iter(tf.data.Dataset.from_tensor_slices({"x": x, "y": x[:, 0].astype(np.int32)}).batch(batch))


def test_a_smaller_last_batch_is_apart_and_the_end_is_no_error():
    source = rows(11, 3)
    (one,) = take(source, 2)
    assert one.count == 2 and one.nested["x"].shape == (2, 3, 2) and one.nested["y"].tolist() == [[0, 2, 4], [6, 8, 10]]
    alike, last = take(source, 5)
    assert (alike.count, last.count) == (1, 1) and last.nested["y"].tolist() == [[18, 20]]
    assert first(last)["y"].tolist() == [18, 20]
    assert take(source, 5) == []


def test_what_is_no_tensor_stays_and_what_is_optional_is_not_there():
    empty = tf.experimental.Optional.empty(tf.TensorSpec((), tf.float32))
    found = take(iter([(np.ones(2), None, 3, empty), (np.zeros(2), None, 3, empty), (np.zeros(2), None, 4, empty)]), 9)
    assert [each.count for each in found] == [2, 1]
    assert found[0].nested[0].tolist() == [[1, 1], [0, 0]] and found[0].nested[1:] == (None, 3, None)


def test_groups_are_of_consecutive_batches():
    (found,) = in_groups(take(rows(14, 2), 7), (3, 1))
    assert found.count == 2 and found.nested["y"].tolist() == [
        [[0, 2], [4, 6], [8, 10]],
        [[12, 14], [16, 18], [20, 22]],
    ]
    (found,) = in_groups(take(rows(8, 1), 8), (2, 2))
    assert found.nested["x"].shape == (2, 2, 2, 1, 2)
    assert in_groups(take(rows(8, 4), 8), (3, 1)) == []
    batches = take(rows(7, 3), 3)
    (found,) = in_groups(batches, (2, 1))  # the smaller one is left over
    assert found == Batches(1, found.nested) and found.nested["y"].shape == (1, 2, 3)
    assert in_groups(batches, (3, 1)) == []  # and so is the group that it would be part of
    with pytest.raises(ValueError, match="differ in their shapes"):
        in_groups([*batches, *batches], (3, 1))


def test_what_is_not_dense_or_no_number_is_said():
    for element, message in (
        (tf.ragged.constant([[1], [2, 3]]), "a batch has a RaggedTensor"),
        (tf.sparse.from_dense([[1, 0]]), "a batch has a SparseTensor"),
        (np.array(["a"]), "a tensor of strings"),
    ):
        with pytest.raises(CompileError, match=message):
            take([element], 1)
    with pytest.raises(CompileError, match="a tensor of strings"):
        take(iter(tf.data.Dataset.from_tensors(["a"])), 1)


def test_an_error_of_the_dataset_goes_on():
    source = iter(tf.data.Dataset.from_tensor_slices([1.0, np.nan]).map(lambda x: tf.debugging.check_numerics(x, "")))
    with pytest.raises(tf.errors.InvalidArgumentError):
        take(source, 3)


@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_of_arrays_are_those_of_keras_in_its_order(shuffle):
    tf.random.set_seed(5)
    x = {"a": np.arange(22).reshape(11, 2), "b": [tf.range(11), np.arange(11) / 2]}
    adapter = ArrayDataAdapter(x, np.arange(11) > 4, batch_size=3, shuffle=shuffle)
    batches = ArrayBatches.of(adapter)
    assert batches is not None
    theirs = adapter.get_tf_dataset()
    for _ in range(2):  # epochs
        source, expected = iter(batches), take(iter(theirs), 9)
        found = [*take(source, 2), *take(source, 9)]
        assert [each.count for each in found] == [2, 1, 1] and take(source, 9) == []
        for each, (start, of) in zip(found, ((0, 0), (2, 0), (0, 1)), strict=True):
            rows = tf.nest.map_structure(lambda leaf, s=start, c=each.count: leaf[s : s + c], expected[of].nested)
            tf.nest.map_structure(np.testing.assert_array_equal, each.nested, rows)
            assert tf.nest.map_structure(lambda leaf: leaf.dtype, each.nested) == tf.nest.map_structure(
                lambda leaf: leaf.dtype, rows
            )
        assert [len(each[1]) for each in batches] == [3, 3, 3, 2]


def test_rows_in_order_are_not_copied():
    x = np.ones((8, 2), np.float32)
    batches = ArrayBatches.of(ArrayDataAdapter(x, batch_size=2))
    assert batches is not None
    (found,) = take(iter(batches), 4)
    assert np.shares_memory(found.nested[0], x)


def test_what_is_no_dense_array_of_numbers_stays_with_keras():
    for x, shuffle in (
        (tf.ragged.constant([[1], [2, 3]]), False),
        (tf.sparse.from_dense([[1.0, 0.0]]), False),
        (tf.constant(["a", "b"]), False),
        (np.ones(4, ">f4"), False),
        (np.ones(4), "batch"),
    ):
        assert ArrayBatches.of(ArrayDataAdapter(x, batch_size=1, shuffle=shuffle)) is None
    assert ArrayBatches.of(object()) is None
