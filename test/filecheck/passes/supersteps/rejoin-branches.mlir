// RUN: ipu-opt %s --ipu-rejoin-branches | filecheck %s

// CHECK-NOT: ipu.divided
func.func private @ipu.divided.0(%p: i1, %x: memref<4xf32>) -> memref<4xf32> attributes {ipu.divided} {
  %r = scf.if %p -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  return %r : memref<4xf32>
}

func.func private @ipu.divided.1(%p: i1, %x: memref<4xf32>) -> memref<4xf32> attributes {ipu.divided} {
  %r = scf.if %p -> (memref<4xf32>) {
    %s = func.call @ipu.divided.0(%p, %x) : (i1, memref<4xf32>) -> memref<4xf32>
    scf.yield %s : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// CHECK-LABEL: func.func private @other
func.func private @other(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// CHECK-LABEL: func.func @branches_come_back
// CHECK-SAME: (%[[P:.*]]: i1, %[[X:.*]]: memref<4xf32>)
// CHECK: %[[O:.*]] = {{.*}}call @other(%[[X]])
// CHECK: %[[R:.*]] = scf.if %[[P]] -> (memref<4xf32>) {
// CHECK:   %[[S:.*]] = scf.if %[[P]] -> (memref<4xf32>) {
// CHECK:     %[[A:.*]] = memref.alloc()
// CHECK:     scf.yield %[[A]]
// CHECK:   scf.yield %[[O]]
// CHECK: return %[[R]]
func.func @branches_come_back(%p: i1, %x: memref<4xf32>) -> memref<4xf32> {
  %o = func.call @other(%x) : (memref<4xf32>) -> memref<4xf32>
  %r = func.call @ipu.divided.1(%p, %o) : (i1, memref<4xf32>) -> memref<4xf32>
  return %r : memref<4xf32>
}
