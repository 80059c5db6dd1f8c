// RUN: ipu-opt %s --ipu-sum-behind-loops --canonicalize | filecheck %s
#id = affine_map<(d0, d1) -> (d0, d1)>
#turn = affine_map<(d0, d1) -> (d1, d0)>
#a = affine_map<(d0, d1, d2) -> (d2, d0)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// The gradient of the weights of a layer with steps, which the loop runs back: rows of one factor lie in %x, and those of
// the other one are stored in their order.
// CHECK-DAG:   #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG:   #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG:   #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
// CHECK-LABEL: func.func @weights_of_steps(
// CHECK-SAME:  %[[W:[a-z0-9]+]]: tensor<4x4xf32>, %[[X:[a-z0-9]+]]: tensor<3x2x4xf32>
// CHECK:       %[[R:.*]]:2 = scf.for %[[T:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[ROWS:.*]] = %{{.*}}) -> (tensor<2x4xf32>, tensor<3x2x4xf32>)
// CHECK-NOT:     linalg.generic {{.*}}"reduction"
// CHECK:         %[[BACK:.*]] = arith.subi %{{.*}}, %[[T]]
// CHECK-NEXT:    tensor.extract_slice %[[X]][%[[BACK]], 0, 0]
// CHECK:         %[[NEXT:.*]] = tensor.insert_slice %{{.*}} into %[[ROWS]]
// CHECK-NEXT:    scf.yield %{{.*}}, %[[NEXT]]
// CHECK:       %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["reduction", "parallel", "parallel", "reduction"]} ins(%[[X]], %[[R]]#1 :
// CHECK:       %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[SUM]] :
// CHECK:       return %[[ALL]], %[[R]]#0
func.func @weights_of_steps(%w: tensor<4x4xf32>, %x: tensor<3x2x4xf32>, %d0: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %square = tensor.empty() : tensor<4x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%sum = %w, %d = %d0) -> (tensor<4x4xf32>, tensor<2x4xf32>) {
    %back = arith.subi %c2, %t : index
    %row = tensor.extract_slice %x[%back, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x4xf32>
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%d, %row : tensor<2x4xf32>, tensor<2x4xf32>) outs(%d0 : tensor<2x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%row, %next : tensor<2x4xf32>, tensor<2x4xf32>) outs(%none : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %more = linalg.generic {indexing_maps = [#id, #turn, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %product : tensor<4x4xf32>, tensor<4x4xf32>) outs(%square : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.addf %q, %zero : f32
      %s = arith.addf %p, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    scf.yield %more, %next : tensor<4x4xf32>, tensor<2x4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<2x4xf32>
}

// A loop that carries sums alone goes over the parts of a batch, so that what they need is not there at once.
// CHECK-LABEL: func.func @parts_of_a_batch(
// CHECK:       scf.for
// CHECK:         linalg.generic {{.*}}"reduction"
// CHECK:         scf.yield
func.func @parts_of_a_batch(%w: tensor<4x4xf32>, %x: tensor<3x2x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %square = tensor.empty() : tensor<4x4xf32>
  %flat = tensor.empty() : tensor<2x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%sum = %w) -> (tensor<4x4xf32>) {
    %row = tensor.extract_slice %x[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x4xf32>
    %slope = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<2x4xf32>) outs(%flat : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.tanh %p : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%row, %slope : tensor<2x4xf32>, tensor<2x4xf32>) outs(%none : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %more = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %product : tensor<4x4xf32>, tensor<4x4xf32>) outs(%square : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    scf.yield %more : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// What the loop puts row by row needs no store, and what is the same in each iteration stays as it is.
// CHECK-LABEL: func.func @rows_that_are_put(
// CHECK:       %[[R:.*]] = scf.for
// CHECK-NOT:     linalg.generic {{.*}}"reduction"
// CHECK:         scf.yield
// CHECK:       linalg.generic {{.*}}["reduction", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %[[R]] : tensor<2x4xf32>, tensor<3x2x4xf32>)
func.func @rows_that_are_put(%w: tensor<4x4xf32>, %x: tensor<2x4xf32>, %all: tensor<3x2x4xf32>) -> (tensor<4x4xf32>, tensor<3x2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %square = tensor.empty() : tensor<4x4xf32>
  %flat = tensor.empty() : tensor<2x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%sum = %w, %rows = %all) -> (tensor<4x4xf32>, tensor<3x2x4xf32>) {
    %n = arith.index_cast %t : index to i32
    %f = arith.sitofp %n : i32 to f32
    %slope = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<2x4xf32>) outs(%flat : tensor<2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.mulf %p, %f : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %kept = tensor.insert_slice %slope into %rows[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<3x2x4xf32>
    %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %slope : tensor<2x4xf32>, tensor<2x4xf32>) outs(%none : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %more = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%product, %sum : tensor<4x4xf32>, tensor<4x4xf32>) outs(%square : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    scf.yield %more, %kept : tensor<4x4xf32>, tensor<3x2x4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<3x2x4xf32>
}

// The sum is read on the way.
// CHECK-LABEL: func.func @sums_that_are_read(
// CHECK:       scf.for
// CHECK:         linalg.generic {{.*}}"reduction"
// CHECK:         scf.yield
func.func @sums_that_are_read(%w: tensor<4x4xf32>, %x: tensor<3x2x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %square = tensor.empty() : tensor<4x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%sum = %w) -> (tensor<4x4xf32>) {
    %row = tensor.extract_slice %x[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x4xf32>
    %product = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%row, %row : tensor<2x4xf32>, tensor<2x4xf32>) outs(%none : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %more = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %product : tensor<4x4xf32>, tensor<4x4xf32>) outs(%square : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %p, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    scf.yield %more : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
