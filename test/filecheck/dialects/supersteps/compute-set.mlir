// RUN: ipu-opt %s | ipu-opt | filecheck %s

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @one_family
// CHECK: "ipu.compute_set"() ({
// CHECK-NEXT: "ipu.vertices"() ({
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: }) {codelet = "exp_f32", parts = #{{.*}}} : () -> ()
// CHECK-NEXT: }) : () -> ()
func.func @one_family(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @two_families_that_read_one_buffer
// CHECK-COUNT-1: "ipu.compute_set"
// CHECK-COUNT-2: "ipu.vertices"
func.func @two_families_that_read_one_buffer(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
    "ipu.vertices"() ({
      linalg.log ins(%x : memref<4xf32, #a>) outs(%z : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @two_families_that_write_other_parts_of_one_allocation
// CHECK-COUNT-2: "ipu.vertices"
func.func @two_families_that_write_other_parts_of_one_allocation(%x: memref<4xf32, #a>, %c: f32) {
  %first = memref.subview %x[0] [2] [1] : memref<4xf32, #a> to memref<2xf32, strided<[1]>, #a>
  %last = memref.subview %x[2] [2] [1] : memref<4xf32, #a> to memref<2xf32, strided<[1], offset: 2>, #a>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%first : memref<2xf32, strided<[1]>, #a>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 2, 0]], 0>} : () -> ()
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%last : memref<2xf32, strided<[1], offset: 2>, #a>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 2, 0]], 1>} : () -> ()
  }) : () -> ()
  return
}
