// RUN: ipu-opt %s --ipu-raise-ranks=longest=8 | filecheck %s --check-prefix=FITS
// RUN: ipu-opt %s --ipu-raise-ranks=longest=7 | filecheck %s --check-prefix=LONG
// RUN: ipu-opt %s --ipu-raise-ranks | filecheck %s --check-prefix=FITS
// RUN: sed s/bytes_per_tile=74/bytes_per_tile=73/ %s | ipu-opt - --ipu-raise-ranks | filecheck %s --check-prefix=LONG

#among = affine_map<(r, i, j) -> (r, j)>
#own = affine_map<(r, i, j) -> (r, i)>

// One vertex ranks a whole row: 8 keys of f32 and a copy of them are 64 bytes, of the 64 that are 7/8 of 74.
module attributes {ipu.target = #ipu.target<{tiles_per_ipu=4, bytes_per_tile=74}>} {
// FITS: library_call = "rank"
// LONG: func.func @ascending
// LONG-NOT: library_call
func.func @ascending(%x: tensor<4x8xf32>) -> tensor<4x8xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %empty = tensor.empty() : tensor<4x8xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<4x8xindex>) -> tensor<4x8xindex>
  %y = linalg.generic {indexing_maps = [#among, #own, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zeros : tensor<4x8xindex>) {
  ^bb0(%other: f32, %mine: f32, %count: index):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %earlier = arith.cmpi ult, %j, %i : index
    %less = arith.cmpf olt, %other, %mine : f32
    %more = arith.cmpf olt, %mine, %other : f32
    %not_more = arith.xori %more, %true : i1
    %tie = arith.andi %not_more, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}
}
