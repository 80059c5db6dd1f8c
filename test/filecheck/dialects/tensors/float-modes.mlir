// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK-LABEL: func.func @sum_that_rounds_at_random_and_is_checked
// CHECK: %[[N:.*]] = "ipu.noise"(%{{.*}}, %{{.*}}) : (i32, index) -> i32
// CHECK: %[[Y:.*]] = "ipu.round"(%{{.*}}, %[[N]]) {overflow = "clip"} : (f16, i32) -> f16
// CHECK: "ipu.saturate"(%{{.*}}) {overflow = "nan"} : (f16) -> f16
// CHECK: "ipu.is_sound"(%{{.*}}) {exception = "oflo"} : (f16) -> i1
func.func @sum_that_rounds_at_random_and_is_checked(%a: f16, %b: f16, %key: i32, %i: index) -> (f16, f16, i1) {
  %sum = arith.addf %a, %b : f16
  %noise = "ipu.noise"(%key, %i) : (i32, index) -> i32
  %random = "ipu.round"(%sum, %noise) {overflow = "clip"} : (f16, i32) -> f16
  %nearest = "ipu.saturate"(%sum) {overflow = "nan"} : (f16) -> f16
  %sound = "ipu.is_sound"(%sum) {exception = "oflo"} : (f16) -> i1
  return %random, %nearest, %sound : f16, f16, i1
}
