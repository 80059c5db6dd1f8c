// RUN: ipu-opt %s --ipu-split-fills | filecheck %s

// CHECK-LABEL: func.func @each_user_fills_its_own
// CHECK-DAG: %[[A:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[A]]
// CHECK: %[[B:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[B]]
func.func @each_user_fills_its_own(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %zero = linalg.fill ins(%c : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = linalg.matmul ins(%y, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @fills_do_not_share_an_empty_tensor
// CHECK-DAG: %[[E:.*]] = tensor.empty
// CHECK-DAG: linalg.fill {{.*}} outs(%[[E]]
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: linalg.fill {{.*}} outs(%[[F]]
// CHECK-NOT: tensor.empty
func.func @fills_do_not_share_an_empty_tensor(%c: f32, %d: f32) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.fill ins(%d : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @one_user_that_takes_it_twice
// CHECK-COUNT-2: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK: linalg.add
func.func @one_user_that_takes_it_twice(%c: f32) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %f = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.add ins(%y, %y : tensor<2xf32>, tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @fill_with_one_user_stays
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT: linalg.fill
func.func @fill_with_one_user_stays(%c: f32) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The copy that bufferization would make of what both begin with would read the part that is still empty.
// CHECK-LABEL: func.func @tensors_that_begin_alike
// CHECK-SAME: (%[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}, %[[Z:[a-z0-9]+]]:
// CHECK-DAG: %[[E:.*]] = tensor.empty
// CHECK-DAG: %[[A:.*]] = tensor.insert_slice %[[X]] into %[[E]][0]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[Y]] into %[[A]][2]
// CHECK: tensor.insert_slice %[[Y]] into %[[B]][4]
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: %[[C:.*]] = tensor.insert_slice %[[X]] into %[[F]][0]
// CHECK: %[[D:.*]] = tensor.insert_slice %[[Y]] into %[[C]][2]
// CHECK: tensor.insert_slice %[[Z]] into %[[D]][4]
func.func @tensors_that_begin_alike(%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<2xf32>)
    -> (tensor<6xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %a = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %b = tensor.insert_slice %y into %a[2] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %c = tensor.insert_slice %y into %b[4] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %d = tensor.insert_slice %z into %b[4] [2] [1] : tensor<2xf32> into tensor<6xf32>
  return %c, %d : tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @update_of_a_full_tensor_reads_it
// CHECK-COUNT-3: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @update_of_a_full_tensor_reads_it(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %b = tensor.insert_slice %x into %a[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %c = tensor.insert_slice %x into %b[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}
