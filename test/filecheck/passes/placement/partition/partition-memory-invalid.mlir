// RUN: ipu-opt %s --ipu-partition --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op is given 1.5 of the memory of a tile; a proportion is more than 0 and at most 1}}
func.func @too_much(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ipu.available_memory_proportion = 1.5 : f64} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op has ipu.available_memory_proportion = "much"; write it as 0.6 : f64}}
func.func @no_number(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ipu.available_memory_proportion = "much"} {
  return %x : tensor<4xf32>
}
