// The pipeline of a file runs only if it changes nothing but the program; names in it are text.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: cd %t && not ipu-opt --run-reproducer %s 2>&1 | filecheck %s --check-prefix=REFUSED
// RUN: cd %t && not cat written && not cat run
// RUN: cd %t && ipu-opt --run-reproducer --trust-reproducer %s | filecheck %s
// RUN: cd %t && cat written | filecheck %s && not cat run
// RUN: not ipu-opt --trust-reproducer %s 2>&1 | filecheck %s --check-prefix=ALONE
// REFUSED: ipu-opt: error: the pipeline of {{.*}}ipu-opt-reproducer-outside.mlir has the pass 'snapshot-op-locations', which writes a file that it names; if you trust whoever wrote the file, add --trust-reproducer
// ALONE: ipu-opt: error: --trust-reproducer is about --run-reproducer, which is not given

// CHECK: module @"$(echo > run)"
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
