// RUN: ipu-opt %s | ipu-opt | filecheck %s

#rows = #ipu.mapping<12, [[4, 12, 1, 1]], 0, 0>
#one = #ipu.mapping<12, [[12, 12, 1, 0]], 0, 0>
#both = #ipu.mapping<12, [[1, 2, 0, 1], [12, 12, 1, 0]], 0, 0>

// CHECK-DAG: #[[ROWS:m[0-9]+]] = #ipu.mapping<12, {{\[}}[4, 12, 1, 1]], 0, 0>
// CHECK-DAG: #[[ONE:m[0-9]+]] = #ipu.mapping<12, {{\[}}[12, 12, 1, 0]], 0, 0>
// CHECK-DAG: #[[BOTH:m[0-9]+]] = #ipu.mapping<12, {{\[}}[1, 2, 0, 1], [12, 12, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @another_mapping
// CHECK-SAME: (%[[X:.*]]: memref<3x4xf32, #[[ROWS]]>, %[[Y:.*]]: memref<3x4xf32, #[[ONE]]>)
// CHECK: "ipu.exchange"(%[[X]], %[[Y]]) : (memref<3x4xf32, #[[ROWS]]>, memref<3x4xf32, #[[ONE]]>) -> ()
func.func @another_mapping(%x: memref<3x4xf32, #rows>, %y: memref<3x4xf32, #one>) {
  "ipu.exchange"(%x, %y) : (memref<3x4xf32, #rows>, memref<3x4xf32, #one>) -> ()
  return
}

// CHECK-LABEL: func.func @one_element_on_two_tiles
// CHECK: "ipu.exchange"({{.*}}) : (memref<12xf32, #[[ONE]]>, memref<12xf32, #[[BOTH]]>) -> ()
func.func @one_element_on_two_tiles(%x: memref<12xf32, #one>, %y: memref<12xf32, #both>) {
  "ipu.exchange"(%x, %y) : (memref<12xf32, #one>, memref<12xf32, #both>) -> ()
  return
}

// CHECK-LABEL: func.func @another_view_of_one_allocation
// CHECK: "ipu.exchange"({{.*}}) : (memref<4xf32, strided<[1]>, #[[ROWS]]>, memref<4xf32, strided<[1], offset: 8>, #[[ROWS]]>) -> ()
func.func @another_view_of_one_allocation(%x: memref<12xf32, #rows>) {
  %first = memref.subview %x[0] [4] [1] : memref<12xf32, #rows> to memref<4xf32, strided<[1]>, #rows>
  %last = memref.subview %x[8] [4] [1] : memref<12xf32, #rows> to memref<4xf32, strided<[1], offset: 8>, #rows>
  "ipu.exchange"(%first, %last)
      : (memref<4xf32, strided<[1]>, #rows>, memref<4xf32, strided<[1], offset: 8>, #rows>) -> ()
  return
}

// CHECK-LABEL: func.func @one_mapping_of_two_allocations
// CHECK: "ipu.exchange"({{.*}}) : (memref<12xi1, #[[ROWS]]>, memref<12xi1, #[[ROWS]]>) -> ()
func.func @one_mapping_of_two_allocations(%x: memref<12xi1, #rows>, %y: memref<12xi1, #rows>) {
  "ipu.exchange"(%x, %y) : (memref<12xi1, #rows>, memref<12xi1, #rows>) -> ()
  return
}

#left = #ipu.mapping<1, [], 0, 0>
#right = #ipu.mapping<1, [], 0, 3>

// CHECK-LABEL: func.func @rank_zero
// CHECK: "ipu.exchange"({{.*}}) : (memref<i64, #{{.*}}>, memref<i64, #{{.*}}>) -> ()
func.func @rank_zero(%x: memref<i64, #left>, %y: memref<i64, #right>) {
  "ipu.exchange"(%x, %y) : (memref<i64, #left>, memref<i64, #right>) -> ()
  return
}
