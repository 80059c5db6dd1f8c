// RUN: ipu-opt %s --ipu-clamp-slices --split-input-file --verify-diagnostics

func.func @slice_larger_than_its_tensor(%x: tensor<4xf32>, %i: index) -> tensor<6xf32> {
  // expected-error @below {{takes 6 elements in steps of 1 from dimension 0, which has 4; at most 4 fit}}
  %y = tensor.extract_slice %x[%i] [6] [1] : tensor<4xf32> to tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

func.func @steps_lead_beyond_the_end(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %i: index) -> tensor<2x4xf32> {
  // expected-error @below {{takes 3 elements in steps of 2 from dimension 1, which has 4; at most 2 fit}}
  %z = tensor.insert_slice %x into %y[0, %i] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}

// -----

func.func @steps_backwards(%x: tensor<4xf32>, %i: index) -> tensor<2xf32> {
  // expected-error @below {{takes 2 elements in steps of -1 from dimension 0, which has 4; take steps of at least 1}}
  %y = tensor.extract_slice %x[%i] [2] [-1] : tensor<4xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}
