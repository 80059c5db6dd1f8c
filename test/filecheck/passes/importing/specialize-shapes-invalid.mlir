// RUN: ipu-opt %s --ipu-specialize-shapes='function=f sizes=4' --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op has 2 sizes that are not known, but 1 are given}}
func.func @f(%x: tensor<?x?xf32>) {
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // expected-error @below {{'tensor.extract_slice' op still has a size that is not known: tensor<?xf32>; it depends on data}}
  %y = tensor.extract_slice %x[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{'builtin.module' op has no function 'f'; name one of its functions with function=}}
module {
}
