// RUN: ipu-opt %s --ipu-update-on-shards | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1) -> (d1)>
module attributes {ipu.target = #ipu.target<{replicas = 4}>} {
"ipu.remote_buffer"() {sym_name = "m", type = tensor<1x3x6xf32>, partition = "encoding", variable} : () -> ()
"ipu.remote_buffer"() {sym_name = "n", type = tensor<1x3x6xf16>, partition = "encoding", variable} : () -> ()

// The gradient is scattered, the weight is gathered, the state stays where it is.
// CHECK-LABEL: func.func @momentum
func.func @momentum(%w: tensor<3x6xf32>, %g: tensor<3x6xf32>, %rate: tensor<f32>) -> tensor<3x6xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<3x6xf32>
  // CHECK: %[[OWN:.*]] = "ipu.remote_load"(%{{.*}}) {buffer = @m} : (index) -> tensor<5xf32>
  %m = "ipu.remote_load"(%c0) {buffer = @m} : (index) -> tensor<3x6xf32>
  // CHECK-NOT: ipu.all_reduce
  // CHECK: %[[G:.*]] = "ipu.reduce_scatter"(%{{.*}}) {op = "mean"} : (tensor<18xf32>) -> tensor<5xf32>
  %s = "ipu.all_reduce"(%g) {op = "mean"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  // CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[OWN]], %[[G]] : tensor<5xf32>, tensor<5xf32>)
  %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %s : tensor<3x6xf32>, tensor<3x6xf32>) outs(%e : tensor<3x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %a = arith.addf %x, %y : f32
    linalg.yield %a : f32
  } -> tensor<3x6xf32>
  // CHECK: "ipu.remote_store"(%[[M]], %{{.*}}) {buffer = @m} : (tensor<5xf32>, index) -> ()
  "ipu.remote_store"(%n, %c0) {buffer = @m} : (tensor<3x6xf32>, index) -> ()
  // CHECK: %[[W:.*]] = tensor.extract_slice {{.*}} to tensor<1x5xf32>
  // CHECK: %[[OWNW:.*]] = tensor.collapse_shape %[[W]]
  // CHECK: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[OWNW]], %[[M]], %arg2 : tensor<5xf32>, tensor<5xf32>, tensor<f32>)
  // CHECK: "ipu.all_gather"(%[[NEW]]) : (tensor<5xf32>) -> tensor<4x5xf32>
  // CHECK-NOT: "ipu.all_gather"
  %v = linalg.generic {indexing_maps = [#id, #id, #one, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %n, %rate : tensor<3x6xf32>, tensor<3x6xf32>, tensor<f32>) outs(%e : tensor<3x6xf32>) {
  ^bb0(%x: f32, %y: f32, %r: f32, %o: f32):
    %a = arith.mulf %y, %r : f32
    %b = arith.subf %x, %a : f32
    linalg.yield %b : f32
  } -> tensor<3x6xf32>
  return %v : tensor<3x6xf32>
}

// What others need of the gradient is not scattered, and a row that is only read stays a row.
// CHECK-LABEL: func.func @others_need_the_gradient
func.func @others_need_the_gradient(%g: tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[S:.*]] = "ipu.all_reduce"
  %s = "ipu.all_reduce"(%g) {op = "add"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  // CHECK: "ipu.remote_load"({{.*}}) {buffer = @m} : (index) -> tensor<3x6xf32>
  %m = "ipu.remote_load"(%c0) {buffer = @m} : (index) -> tensor<3x6xf32>
  // CHECK: tensor.collapse_shape %[[S]]
  // CHECK: "ipu.remote_store"(%{{.*}}) {buffer = @m} : (tensor<5xf32>, index) -> ()
  "ipu.remote_store"(%s, %c0) {buffer = @m} : (tensor<3x6xf32>, index) -> ()
  return %s, %m : tensor<3x6xf32>, tensor<3x6xf32>
}

// Half as many bytes are gathered before the cast as behind it.
// CHECK-LABEL: func.func @cast_of_what_is_gathered
func.func @cast_of_what_is_gathered() -> tensor<3x6xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<3x6xf32>
  // CHECK: "ipu.remote_load"({{.*}}) {buffer = @n} : (index) -> tensor<3x6xf16>
  %n = "ipu.remote_load"(%c0) {buffer = @n} : (index) -> tensor<3x6xf16>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x6xf16>)
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<3x6xf16>) outs(%e : tensor<3x6xf32>) {
  ^bb0(%x: f16, %o: f32):
    %a = arith.extf %x : f16 to f32
    linalg.yield %a : f32
  } -> tensor<3x6xf32>
  return %f : tensor<3x6xf32>
}

// Each replica has another value of %x: what all of them compute from it is not parts of one value.
// CHECK-LABEL: func.func @what_differs_has_no_parts
func.func @what_differs_has_no_parts(%x: tensor<3x6xf32> {ipu.varies = true}) -> tensor<3x6xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<3x6xf32>
  // CHECK: %[[M:.*]] = "ipu.remote_load"({{.*}}) {buffer = @m} : (index) -> tensor<3x6xf32>
  %m = "ipu.remote_load"(%c0) {buffer = @m} : (index) -> tensor<3x6xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[M]], %arg0 : tensor<3x6xf32>, tensor<3x6xf32>)
  %n = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<3x6xf32>, tensor<3x6xf32>) outs(%e : tensor<3x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<3x6xf32>
  return %n : tensor<3x6xf32>
}

// An element comes from others than its own, or from one for each column: rows are needed whole.
// CHECK-LABEL: func.func @not_element_by_element
func.func @not_element_by_element(%b: tensor<6xf32>) -> tensor<3x6xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<3x6xf32>
  // CHECK: %[[M:.*]] = "ipu.remote_load"({{.*}}) {buffer = @m} : (index) -> tensor<3x6xf32>
  %m = "ipu.remote_load"(%c0) {buffer = @m} : (index) -> tensor<3x6xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[M]], %arg0 : tensor<3x6xf32>, tensor<6xf32>)
  %n = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<3x6xf32>, tensor<6xf32>) outs(%e : tensor<3x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %c = arith.addf %x, %y : f32
    linalg.yield %c : f32
  } -> tensor<3x6xf32>
  return %n : tensor<3x6xf32>
}
}
