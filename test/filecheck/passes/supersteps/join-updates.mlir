// RUN: ipu-opt %s --ipu-join-updates | filecheck %s

// CHECK-LABEL: func.func @the_copy_of_what_ends_is_what_ends
// CHECK: %[[A:.*]] = memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: memref.copy %{{.*}}, %[[A]]
// CHECK-NEXT: memref.store %{{.*}}, %[[A]]
// CHECK-NEXT: memref.store %{{.*}}, %[[A]]
// CHECK-NEXT: return %[[A]]
func.func @the_copy_of_what_ends_is_what_ends(%x: memref<8xf32>, %i: index, %f: f32) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.store %f, %a[%i] : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  memref.store %f, %b[%i] : memref<8xf32>
  return %b : memref<8xf32>
}

// CHECK-LABEL: func.func @loops_may_carry_both
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[A]])
// CHECK-NOT: memref.copy
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[LOOP]])
func.func @loops_may_carry_both(%n: index, %f: f32) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (memref<8xf32>) {
    memref.store %f, %t[%i] : memref<8xf32>
    scf.yield %t : memref<8xf32>
  }
  %b = memref.alloc() : memref<8xf32>
  memref.copy %0, %b : memref<8xf32> to memref<8xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (memref<8xf32>) {
    memref.store %f, %t[%i] : memref<8xf32>
    scf.yield %t : memref<8xf32>
  }
  return %1 : memref<8xf32>
}

// The source is read later by another name, is what the caller gave, or is copied again and again.
// CHECK-LABEL: func.func @copies_that_somebody_needs_stay
// CHECK-COUNT-3: memref.copy
func.func @copies_that_somebody_needs_stay(%x: memref<8xf32>, %n: index, %f: f32) -> (f32, memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %view = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  memref.store %f, %a[%c0] : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  memref.store %f, %b[%c1] : memref<8xf32>
  %read = memref.load %view[%c0] : memref<4xf32, strided<[1]>>
  scf.for %i = %c0 to %n step %c1 {
    %d = memref.alloc() : memref<8xf32>
    memref.copy %b, %d : memref<8xf32> to memref<8xf32>
    memref.store %f, %d[%i] : memref<8xf32>
  }
  %e = memref.alloc() : memref<8xf32>
  memref.copy %x, %e : memref<8xf32> to memref<8xf32>
  memref.store %f, %e[%c1] : memref<8xf32>
  return %read, %e : f32, memref<8xf32>
}

// CHECK-LABEL: func.func @what_rests_meanwhile_is_no_copy
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %{{.*}})
// CHECK-NEXT: memref.store %{{.*}}, %[[T]]
// CHECK-NEXT: memref.store %{{.*}}, %[[T]]
// CHECK-NEXT: scf.yield %[[T]]
func.func @what_rests_meanwhile_is_no_copy(%x: memref<8xf32>, %n: index, %f: f32) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (memref<8xf32>) {
    memref.store %f, %t[%i] : memref<8xf32>
    %a = memref.alloc() : memref<8xf32>
    memref.copy %t, %a : memref<8xf32> to memref<8xf32>
    memref.store %f, %a[%c1] : memref<8xf32>
    linalg.copy ins(%a : memref<8xf32>) outs(%t : memref<8xf32>)
    scf.yield %t : memref<8xf32>
  }
  return %0 : memref<8xf32>
}

// The buffer is read in between, there by the name that it has outside; or the copy is used later.
// CHECK-LABEL: func.func @what_is_used_meanwhile_is_copied
// CHECK-COUNT-2: linalg.copy
func.func @what_is_used_meanwhile_is_copied(%x: memref<8xf32>, %n: index, %f: f32) -> (f32, memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (memref<8xf32>) {
    %a = memref.alloc() : memref<8xf32>
    memref.copy %t, %a : memref<8xf32> to memref<8xf32>
    %old = memref.load %x[%i] : memref<8xf32>
    memref.store %old, %a[%c1] : memref<8xf32>
    linalg.copy ins(%a : memref<8xf32>) outs(%t : memref<8xf32>)
    scf.yield %t : memref<8xf32>
  }
  %b = memref.alloc() : memref<8xf32>
  memref.copy %0, %b : memref<8xf32> to memref<8xf32>
  memref.store %f, %b[%c1] : memref<8xf32>
  linalg.copy ins(%b : memref<8xf32>) outs(%0 : memref<8xf32>)
  memref.store %f, %0[%c0] : memref<8xf32>
  %last = memref.load %b[%c0] : memref<8xf32>
  return %last, %0 : f32, memref<8xf32>
}
