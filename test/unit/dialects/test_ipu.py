from concurrent.futures import ThreadPoolExecutor

from ipu_mlir.dialects import ipu


def test_threads_make_contexts_at_once():
    with ThreadPoolExecutor(4) as threads:
        contexts = list(threads.map(lambda _: ipu.context(), range(16)))
    assert all(each.is_dialect_loaded("ipu") for each in contexts)
