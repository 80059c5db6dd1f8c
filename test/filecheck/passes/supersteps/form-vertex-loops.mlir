// RUN: ipu-opt %s --ipu-form-vertex-loops --ipu-check-supersteps --split-input-file | filecheck %s

#here = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>
#one = #ipu.mapping<1, [], 0, 3>
#part = #ipu.parts<[[4, 4, 0]], 3>

// Of loops in each other the outermost is the vertex; an exchange of the tile with itself is a copy of it.
// CHECK-LABEL: func.func @loops_on_one_tile_are_one_vertex
// CHECK: scf.for
// CHECK-NOT: ipu.exchange
// CHECK: linalg.copy
// CHECK-NEXT: }) {codelet = "copy_f32", parts = #p0}
// CHECK: linalg.exp
// CHECK: } {ipu.one_vertex = 3 : i64}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  func.func @loops_on_one_tile_are_one_vertex(%x: memref<4xf32, #here>, %n: index) -> memref<4xf32, #here> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = memref.alloc() : memref<4xf32, #here>
    %b = memref.alloc() : memref<4xf32, #here>
    scf.for %i = %zero to %n step %one {
      "ipu.exchange"(%x, %a) : (memref<4xf32, #here>, memref<4xf32, #here>) -> ()
      scf.for %j = %zero to %n step %one {
        "ipu.compute_set"() ({
          "ipu.vertices"() ({
            linalg.exp ins(%a : memref<4xf32, #here>) outs(%b : memref<4xf32, #here>)
          }) {codelet = "exp_f32", parts = #part} : () -> ()
        }) : () -> ()
      }
    }
    return %b : memref<4xf32, #here>
  }
}

// -----

#one = #ipu.mapping<1, [], 0, 3>

// What a loop goes by lies on the tile: the vertex reads it there.
// CHECK-LABEL: func.func @a_while_reads_in_its_own_memory
// CHECK: scf.while
// CHECK: attributes {ipu.one_vertex = 3 : i64}
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  func.func @a_while_reads_in_its_own_memory(%x: memref<f32, #one>) -> memref<f32, #one> {
    %half = arith.constant 0.5 : f32
    %a = memref.alloc() : memref<f32, #one>
    "ipu.exchange"(%x, %a) : (memref<f32, #one>, memref<f32, #one>) -> ()
    scf.while : () -> () {
      %v = "ipu.read_control"(%a) : (memref<f32, #one>) -> f32
      %c = arith.cmpf ogt, %v, %half : f32
      scf.condition(%c)
    } do {
      "ipu.compute_set"() ({
        "ipu.vertices"() ({
          linalg.tanh ins(%a : memref<f32, #one>) outs(%a : memref<f32, #one>)
        }) {codelet = "tanh_f32", parts = #ipu.parts<[], 3>} : () -> ()
      }) : () -> ()
      scf.yield
    }
    return %a : memref<f32, #one>
  }
}

// -----

#here = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>
#there = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 2>

// CHECK-LABEL: func.func @a_loop_that_exchanges_stays
// CHECK-NOT: ipu.one_vertex
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  func.func @a_loop_that_exchanges_stays(%x: memref<4xf32, #there>, %n: index) -> memref<4xf32, #here> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = memref.alloc() : memref<4xf32, #here>
    "ipu.exchange"(%x, %a) : (memref<4xf32, #there>, memref<4xf32, #here>) -> ()
    scf.for %i = %zero to %n step %one {
      "ipu.exchange"(%x, %a) : (memref<4xf32, #there>, memref<4xf32, #here>) -> ()
      "ipu.compute_set"() ({
        "ipu.vertices"() ({
          linalg.exp ins(%a : memref<4xf32, #here>) outs(%a : memref<4xf32, #here>)
        }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 3>} : () -> ()
      }) : () -> ()
    }
    return %a : memref<4xf32, #here>
  }
}
