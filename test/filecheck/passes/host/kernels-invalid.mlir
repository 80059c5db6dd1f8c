// RUN: ipu-opt %s --split-input-file --verify-diagnostics --ipu-kernels

// expected-error @below {{the module has no function 'main'; it has: other}}
module {
  func.func @other(%x: memref<4xf32>) {
    return
  }
}

// -----

// expected-error @below {{the fast runtime cannot run 1 op of this program}}
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
