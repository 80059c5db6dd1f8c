// RUN: ipu-opt %s --ipu-raise-recurrences | filecheck %s
#id = affine_map<(d0, d1) -> (d0, d1)>

// A gradient keeps gates, which ops of their own compute then. The loop that takes what was stored, and multiplies by the
// weights of the layer, is of its gradient.
// CHECK-LABEL: func.func @back_over_the_steps(
// CHECK:       scf.for
// CHECK:         linalg.matmul {ipu.recurrence = "lstm"}
// CHECK-COUNT-3: ipu.recurrence = "lstm"}
// CHECK:       } {ipu.recurrence = "lstm"}
// CHECK:       scf.for
// CHECK:         linalg.generic {{.*}} attrs = {ipu.recurrence = "lstm_gradient"}
// CHECK:         linalg.matmul {ipu.recurrence = "lstm_gradient"}
// CHECK:       } {ipu.recurrence = "lstm_gradient"}
func.func @back_over_the_steps(%u: tensor<4x8xf32>, %v: tensor<8x4xf32>, %x: tensor<3x2x4xf32>, %h0: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %begin = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %wide = tensor.empty() : tensor<2x8xf32>
  %narrow = tensor.empty() : tensor<2x4xf32>
  %all = tensor.empty() : tensor<3x2x4xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x8xf32>) -> tensor<2x8xf32>
  %none = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x4xf32>) -> tensor<2x4xf32>
  %h:2 = scf.for %t = %begin to %end step %step iter_args(%h = %h0, %stored = %all) -> (tensor<2x4xf32>, tensor<3x2x4xf32>) {
    %own = linalg.matmul ins(%h, %u : tensor<2x4xf32>, tensor<4x8xf32>) outs(%nothing : tensor<2x8xf32>) -> tensor<2x8xf32>
    %out = tensor.extract_slice %own[0, 0] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
    %cell = tensor.extract_slice %own[0, 4] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
    %gate = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%out : tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %n = arith.negf %p : f32
      %e = math.exp %n : f32
      %d = arith.addf %e, %one : f32
      %s = arith.divf %one, %d : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %tanh = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%cell : tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.tanh %p : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%gate, %tanh : tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %kept = tensor.insert_slice %gate into %stored[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<3x2x4xf32>
    scf.yield %new, %kept : tensor<2x4xf32>, tensor<3x2x4xf32>
  }
  %turned = linalg.transpose ins(%u : tensor<4x8xf32>) outs(%v : tensor<8x4xf32>) permutation = [1, 0]
  %g = scf.for %t = %begin to %end step %step iter_args(%dh = %none) -> (tensor<2x4xf32>) {
    %back = arith.subi %last, %t : index
    %row = tensor.extract_slice %h#1[%back, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x4xf32>
    %both = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%dh, %row : tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %gates = tensor.insert_slice %both into %nothing[0, 4] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x8xf32>
    %next = linalg.matmul ins(%gates, %turned : tensor<2x8xf32>, tensor<8x4xf32>) outs(%none : tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %next : tensor<2x4xf32>
  }
  return %h#0, %g : tensor<2x4xf32>, tensor<2x4xf32>
}

// Another layer without gates, which reads the first one from its end.
// CHECK-LABEL: func.func @other_weights(
// CHECK:       } {ipu.recurrence = "lstm"}
// CHECK-NOT:   ipu.recurrence
func.func @other_weights(%u: tensor<4x8xf32>, %v: tensor<8x4xf32>, %x: tensor<3x2x4xf32>, %h0: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %begin = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %wide = tensor.empty() : tensor<2x8xf32>
  %narrow = tensor.empty() : tensor<2x4xf32>
  %all = tensor.empty() : tensor<3x2x4xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x8xf32>) -> tensor<2x8xf32>
  %none = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x4xf32>) -> tensor<2x4xf32>
  %h:2 = scf.for %t = %begin to %end step %step iter_args(%h = %h0, %stored = %all) -> (tensor<2x4xf32>, tensor<3x2x4xf32>) {
    %own = linalg.matmul ins(%h, %u : tensor<2x4xf32>, tensor<4x8xf32>) outs(%nothing : tensor<2x8xf32>) -> tensor<2x8xf32>
    %out = tensor.extract_slice %own[0, 0] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
    %cell = tensor.extract_slice %own[0, 4] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
    %gate = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%out : tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %n = arith.negf %p : f32
      %e = math.exp %n : f32
      %d = arith.addf %e, %one : f32
      %s = arith.divf %one, %d : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %tanh = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%cell : tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.tanh %p : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%gate, %tanh : tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %kept = tensor.insert_slice %gate into %stored[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<3x2x4xf32>
    scf.yield %new, %kept : tensor<2x4xf32>, tensor<3x2x4xf32>
  }
  %turned = linalg.transpose ins(%u : tensor<4x8xf32>) outs(%v : tensor<8x4xf32>) permutation = [1, 0]
  %g = scf.for %t = %begin to %end step %step iter_args(%dh = %none) -> (tensor<2x4xf32>) {
    %back = arith.subi %last, %t : index
    %row = tensor.extract_slice %h#1[%back, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x4xf32>
    %both = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%dh, %row : tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %gates = tensor.insert_slice %both into %nothing[0, 4] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x8xf32>
    %next = linalg.matmul ins(%gates, %v : tensor<2x8xf32>, tensor<8x4xf32>) outs(%none : tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %next : tensor<2x4xf32>
  }
  return %h#0, %g : tensor<2x4xf32>, tensor<2x4xf32>
}

// A layer that shares the weights of the first one, but does not take what it has stored.
// CHECK-LABEL: func.func @other_rows(
// CHECK:       } {ipu.recurrence = "lstm"}
// CHECK-NOT:   ipu.recurrence
func.func @other_rows(%u: tensor<4x8xf32>, %v: tensor<8x4xf32>, %x: tensor<3x2x4xf32>, %h0: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %begin = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.constant 2 : index
  %end = arith.constant 3 : index
  %wide = tensor.empty() : tensor<2x8xf32>
  %narrow = tensor.empty() : tensor<2x4xf32>
  %all = tensor.empty() : tensor<3x2x4xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%wide : tensor<2x8xf32>) -> tensor<2x8xf32>
  %none = linalg.fill ins(%zero : f32) outs(%narrow : tensor<2x4xf32>) -> tensor<2x4xf32>
  %h:2 = scf.for %t = %begin to %end step %step iter_args(%h = %h0, %stored = %all) -> (tensor<2x4xf32>, tensor<3x2x4xf32>) {
    %own = linalg.matmul ins(%h, %u : tensor<2x4xf32>, tensor<4x8xf32>) outs(%nothing : tensor<2x8xf32>) -> tensor<2x8xf32>
    %out = tensor.extract_slice %own[0, 0] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
    %cell = tensor.extract_slice %own[0, 4] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
    %gate = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%out : tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %n = arith.negf %p : f32
      %e = math.exp %n : f32
      %d = arith.addf %e, %one : f32
      %s = arith.divf %one, %d : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %tanh = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%cell : tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.tanh %p : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%gate, %tanh : tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %kept = tensor.insert_slice %gate into %stored[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<3x2x4xf32>
    scf.yield %new, %kept : tensor<2x4xf32>, tensor<3x2x4xf32>
  }
  %turned = linalg.transpose ins(%u : tensor<4x8xf32>) outs(%v : tensor<8x4xf32>) permutation = [1, 0]
  %g = scf.for %t = %begin to %end step %step iter_args(%dh = %none) -> (tensor<2x4xf32>) {
    %back = arith.subi %last, %t : index
    %row = tensor.extract_slice %x[%back, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x4xf32>
    %both = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%dh, %row : tensor<2x4xf32>, tensor<2x4xf32>) outs(%narrow : tensor<2x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %gates = tensor.insert_slice %both into %nothing[0, 4] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x8xf32>
    %next = linalg.matmul ins(%gates, %turned : tensor<2x8xf32>, tensor<8x4xf32>) outs(%none : tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %next : tensor<2x4xf32>
  }
  return %h#0, %g : tensor<2x4xf32>, tensor<2x4xf32>
}
