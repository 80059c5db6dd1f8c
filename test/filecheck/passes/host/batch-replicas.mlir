// RUN: ipu-opt %s --ipu-batch-replicas | filecheck %s

#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>

module attributes {ipu.replicas = 4} {

// What varies has an axis in front, what is one for all stays as it is.
// CHECK-LABEL: func.func @elementwise(%arg0: memref<4x8xf32> {ipu.varies = true}, %arg1: memref<8xf32>)
// CHECK-SAME: -> (memref<4x8xf32> {ipu.varies = true}, memref<8xf32> {ipu.varies = false})
func.func @elementwise(%x: memref<8xf32> {ipu.varies = true}, %y: memref<8xf32>)
    -> (memref<8xf32> {ipu.varies = true}, memref<8xf32> {ipu.varies = false}) {
  // CHECK: %[[SUM:.*]] = memref.alloc() : memref<4x8xf32>
  // CHECK-NEXT: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : memref<4x8xf32>, memref<8xf32>) outs(%[[SUM]] : memref<4x8xf32>)
  %sum = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : memref<8xf32>, memref<8xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  // CHECK: %[[TWICE:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%arg1 : memref<8xf32>) outs(%[[TWICE]] : memref<8xf32>)
  %twice = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : memref<8xf32>) outs(%twice : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return %sum, %twice : memref<8xf32>, memref<8xf32>
}

// The index in a body counts one loop more, a load takes the replica's own row, a number from outside is an element.
// CHECK-LABEL: func.func @bodies
func.func @bodies(%table: memref<8xf32> {ipu.varies = true}, %at: memref<i32> {ipu.varies = true}) -> (memref<4xf32> {ipu.varies = true}) {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<4xindex>) outs(%{{.*}} : memref<4x4xf32>)
  // CHECK-NEXT: ^bb0(%[[FIRST:.*]]: index, %{{.*}}: f32):
  // CHECK-NEXT: %[[R:.*]] = linalg.index 0 : index
  // CHECK-NEXT: %[[I:.*]] = linalg.index 1 : index
  // CHECK-NEXT: %[[PLACE:.*]] = arith.addi %[[I]], %[[FIRST]] : index
  // CHECK-NEXT: memref.load %arg0[%[[R]], %[[PLACE]]] : memref<4x8xf32>
  %number = memref.load %at[] : memref<i32>
  %first = arith.index_cast %number : i32 to index
  %found = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%found : memref<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %place = arith.addi %i, %first : index
    %value = memref.load %table[%place] : memref<8xf32>
    linalg.yield %value : f32
  }
  return %found : memref<4xf32>
}

// A sum over replicas of what each of them adds up is one sum.
// CHECK-LABEL: func.func @one_sum
func.func @one_sum(%x: memref<8x2xf32> {ipu.varies = true}) -> (memref<8xf32> {ipu.varies = false}) {
  // CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]} ins(%arg0 : memref<4x8x2xf32>) outs(%{{.*}} : memref<8xf32>)
  // CHECK-NOT: linalg.generic
  // CHECK-NOT: ipu.collective
  %zero = arith.constant 0.0 : f32
  %own = memref.alloc() : memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%own : memref<8xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x2xf32>) outs(%own : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  %whole = memref.alloc() : memref<8xf32>
  "ipu.collective"(%own, %whole) {kind = "all_reduce", op = "add"} : (memref<8xf32>, memref<8xf32>) -> ()
  return %whole : memref<8xf32>
}

// Memory that has held what differs has the axis: a result that is one comes from the first replica, and a condition.
// CHECK-LABEL: func.func @one_in_memory_of_many
func.func @one_in_memory_of_many(%x: memref<f32> {ipu.varies = true}, %y: memref<i1>) -> (memref<i1> {ipu.varies = false}, memref<i32> {ipu.varies = true}) {
  // CHECK: %[[R:.*]] = memref.alloc() : memref<4xi32>
  // CHECK: linalg.index 0
  %r = memref.alloc() : memref<i32>
  "ipu.number_replica"(%r) : (memref<i32>) -> ()
  %zero = arith.constant 0 : i32
  %flag = memref.alloc() : memref<i1>
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%r : memref<i32>) outs(%flag : memref<i1>) {
  ^bb0(%a: i32, %o: i1):
    %c = arith.cmpi eq, %a, %zero : i32
    linalg.yield %c : i1
  }
  // CHECK: linalg.generic {{.*}} ins(%arg1 : memref<i1>) outs(%{{.*}} : memref<4xi1>)
  memref.copy %y, %flag : memref<i1> to memref<i1>
  // CHECK: %[[FIRST:.*]] = memref.reinterpret_cast %{{.*}} : memref<4xi1> to memref<i1>
  // CHECK-NEXT: %[[CONDITION:.*]] = memref.load %[[FIRST]][] : memref<i1>
  // CHECK: scf.if %[[CONDITION]]
  %condition = memref.load %flag[] : memref<i1>
  scf.if %condition {
    "ipu.number_replica"(%r) : (memref<i32>) -> ()
  }
  // CHECK: return %{{.*}}, %[[R]] : memref<i1>, memref<4xi32>
  return %flag, %r : memref<i1>, memref<i32>
}

// A codelet whose vertices come first has more of them.
// CHECK-LABEL: func.func @sorted
func.func @sorted(%x: memref<2x5x1xf32> {ipu.varies = true}) -> (memref<2x5x1xf32> {ipu.varies = true}) {
  // CHECK: linalg.generic {{.*}}library_call = "sort"} ins(%{{.*}} : memref<8x5x1xf32>) outs(%{{.*}} : memref<8x5x1xf32>)
  %y = memref.alloc() : memref<2x5x1xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "reduction", "parallel"], library_call = "sort"} ins(%x : memref<2x5x1xf32>) outs(%y : memref<2x5x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return %y : memref<2x5x1xf32>
}

// Rows of each replica are moved at places of each; what all of them fetch from the same rows is fetched once.
"ipu.remote_buffer"() {sym_name = "own", type = tensor<4x8xf32>, ipu.varies = true} : () -> ()
"ipu.remote_buffer"() {sym_name = "same", type = tensor<4x8xf32>, ipu.varies = false} : () -> ()
"ipu.remote_buffer"() {sym_name = "table", type = tensor<4x8xf32>, memory = "host"} : () -> ()
// CHECK-LABEL: func.func @rows
func.func @rows(%i: index, %n: memref<2xi32>, %u: memref<2x8xf32>) -> (memref<8xf32> {ipu.varies = true}) {
  %x = memref.alloc() : memref<8xf32>
  // CHECK: %[[ONE:.*]] = memref.alloc() : memref<8xf32>
  // CHECK: "ipu.fetch"(%[[ONE]], %arg0) {buffer = @same} : (memref<8xf32>, index) -> ()
  "ipu.fetch"(%x, %i) {buffer = @same} : (memref<8xf32>, index) -> ()
  // CHECK: "ipu.fetch"(%[[X:.*]], %{{.*}}) {buffer = @own} : (memref<4x8xf32>, memref<4xindex>) -> ()
  "ipu.fetch"(%x, %i) {buffer = @own} : (memref<8xf32>, index) -> ()
  // CHECK: "ipu.remote_store"(%[[X]], %{{.*}}) {buffer = @own} : (memref<4x8xf32>, memref<4xindex>) -> ()
  "ipu.remote_store"(%x, %i) {buffer = @own} : (memref<8xf32>, index) -> ()
  // CHECK: "ipu.host_update_add"(%{{.*}}, %{{.*}}) {buffer = @table} : (memref<4x2xi32>, memref<4x2x8xf32>) -> ()
  "ipu.host_update_add"(%n, %u) {buffer = @table} : (memref<2xi32>, memref<2x8xf32>) -> ()
  return %x : memref<8xf32>
}
}
