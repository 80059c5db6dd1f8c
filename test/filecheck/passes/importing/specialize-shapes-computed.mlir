// RUN: ipu-opt %s --ipu-specialize-shapes=sizes=6 | filecheck %s

// JAX puts shapes together in tensors of integers.

#point = affine_map<() -> ()>
#row = affine_map<(d0) -> (d0)>
#map = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<6x4xf32>) -> (tensor<3x8xf32>, tensor<6x2xf32>)
// CHECK-NOT: ?
// CHECK-DAG: tensor.collapse_shape %[[X]]
// CHECK-DAG: tensor.empty() : tensor<6x2xf32>
func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x8xf32>, tensor<?x2xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant dense<2> : tensor<i32>
  %eight = arith.constant 8 : i32
  %value = arith.constant 1.5 : f32
  %n = tensor.dim %x, %zero : tensor<?x4xf32>
  %m = arith.index_cast %n : index to i32
  %sized = tensor.from_elements %m : tensor<i32>
  %number = tensor.empty() : tensor<i32>
  %half = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = []}
      ins(%sized, %two : tensor<i32>, tensor<i32>) outs(%number : tensor<i32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<i32>
  %first = tensor.expand_shape %half [] output_shape [1] : tensor<i32> into tensor<1xi32>
  %pair = tensor.empty() : tensor<2xi32>
  %shape = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%pair : tensor<2xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %is_first = arith.cmpi ult, %i, %one : index
    %s = scf.if %is_first -> (i32) {
      %e = tensor.extract %first[%i] : tensor<1xi32>
      scf.yield %e : i32
    } else {
      scf.yield %eight : i32
    }
    linalg.yield %s : i32
  } -> tensor<2xi32>
  %r = tensor.reshape %x(%shape) : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  %twice = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%shape : tensor<2xi32>) outs(%pair : tensor<2xi32>) {
  ^bb0(%a: i32, %out: i32):
    %t = arith.addi %a, %a : i32
    linalg.yield %t : i32
  } -> tensor<2xi32>
  %rows = tensor.extract %twice[%zero] : tensor<2xi32>
  %size = arith.index_cast %rows : i32 to index
  %e = tensor.empty(%size) : tensor<?x2xf32>
  %f = linalg.fill ins(%value : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %r, %f : tensor<?x8xf32>, tensor<?x2xf32>
}
