// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @no_section() -> tensor<2xf32> {
  // expected-error @below {{the file holds no data for resource 'weight'}}
  %0 = arith.constant dense_resource<weight> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @too_short() -> tensor<2xf32> {
  // expected-error @below {{resource 'weight' holds 4 bytes, but 2 x f32 need 8}}
  %0 = arith.constant dense_resource<weight> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F"
    }
  }
#-}

// -----

func.func @elided() -> tensor<2xf32> {
  // expected-error @below {{this constant's values were left out when the file was printed}}
  %0 = arith.constant dense_resource<__elided__> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
