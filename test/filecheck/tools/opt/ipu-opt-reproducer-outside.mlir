// The pipeline of a file runs only if it changes nothing but the program; names in it are text.
// RUN: not ipu-opt --run-reproducer %s 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: not ipu-opt --trust-reproducer %s 2>&1 | filecheck %s --check-prefix=ALONE
// REFUSED: ipu-opt: error: the pipeline of {{.*}}ipu-opt-reproducer-outside.mlir has the pass 'snapshot-op-locations', which writes a file that it names; if you trust whoever wrote the file, add --trust-reproducer
// ALONE: ipu-opt: error: --trust-reproducer is about --run-reproducer, which is not given

// test/unit/tools/test_reproducers.py runs it with trust, in a folder of its own.
module @"$(echo > run)" {
  func.func @"`echo > run`"(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(snapshot-op-locations{filename=written})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
