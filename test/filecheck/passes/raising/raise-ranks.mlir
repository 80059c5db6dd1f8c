// RUN: ipu-opt %s --ipu-raise-ranks | filecheck %s

#among = affine_map<(r, i, j) -> (r, j)>
#own = affine_map<(r, i, j) -> (r, i)>

// CHECK: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK: #[[PLACES:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK: #[[RANKS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// What is less, or ties and stands earlier: the elements themselves are the keys.
// CHECK-LABEL: func.func @ascending
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK: %[[IN:.*]] = tensor.expand_shape %[[X]] {{.*}} tensor<4x8xf32> into tensor<4x8x1xf32>
// CHECK: %[[RANKED:.*]] = linalg.generic {indexing_maps = [#[[KEYS]], #[[PLACES]], #[[RANKS]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"} ins(%[[IN]], %{{.*}} : tensor<4x8x1xf32>, tensor<8xindex>)
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[RANKED]] {{.*}} into tensor<4x8xindex>
// CHECK: return %[[Y]]
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

// Ties are told by comparing in both directions, and counts are integers.
// CHECK-LABEL: func.func @descending
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: %[[KEY:.*]] = arith.negf
// CHECK: linalg.yield %[[KEY]]
// CHECK: library_call = "rank"
// CHECK: arith.index_cast %{{.*}} : index to i32
func.func @descending(%x: tensor<4x8xf32>) -> tensor<4x8xi32> {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %empty = tensor.empty() : tensor<4x8xi32>
  %zeros = linalg.fill ins(%none : i32) outs(%empty : tensor<4x8xi32>) -> tensor<4x8xi32>
  %y = linalg.generic {indexing_maps = [#among, #own, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zeros : tensor<4x8xi32>) {
  ^bb0(%other: f32, %mine: f32, %count: i32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %earlier = arith.cmpi ult, %j, %i : index
    %less = arith.cmpf oge, %other, %mine : f32
    %more = arith.cmpf oge, %mine, %other : f32
    %not_more = arith.xori %more, %true : i1
    %strict = arith.andi %less, %not_more : i1
    %same = arith.cmpi eq, %less, %more : i1
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %strict, %tie : i1
    %next = arith.addi %count, %one : i32
    %n = arith.select %before, %next, %count : i32
    linalg.yield %n : i32
  } -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// Unsigned integers are ranked as signed ones, with the highest bit turned.
// CHECK-LABEL: func.func @unsigned
// CHECK: %[[BIT:.*]] = arith.constant -128 : i8
// CHECK: arith.xori %{{.*}}, %[[BIT]] : i8
// CHECK: library_call = "rank"
func.func @unsigned(%x: tensor<4x8xi8>) -> tensor<4x8xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %empty = tensor.empty() : tensor<4x8xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<4x8xindex>) -> tensor<4x8xindex>
  %y = linalg.generic {indexing_maps = [#among, #own, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xi8>, tensor<4x8xi8>) outs(%zeros : tensor<4x8xindex>) {
  ^bb0(%other: i8, %mine: i8, %count: index):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %earlier = arith.cmpi ult, %j, %i : index
    %less = arith.cmpi ult, %other, %mine : i8
    %same = arith.cmpi eq, %mine, %other : i8
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}

// What is compared is computed from the elements, and compared in two ways one after the other.
// CHECK-LABEL: func.func @two_keys
// CHECK: arith.shrsi
// CHECK: linalg.yield
// CHECK: %[[MASK:.*]] = arith.constant -1 : i32
// CHECK: arith.xori %{{.*}}, %[[MASK]] : i32
// CHECK: library_call = "rank"} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x1xi32>, tensor<4x8x1xi32>, tensor<8xindex>)
func.func @two_keys(%x: tensor<4x8xi32>) -> tensor<4x8xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %four = arith.constant 4 : i32
  %empty = tensor.empty() : tensor<4x8xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<4x8xindex>) -> tensor<4x8xindex>
  %y = linalg.generic {indexing_maps = [#among, #own, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xi32>, tensor<4x8xi32>) outs(%zeros : tensor<4x8xindex>) {
  ^bb0(%other: i32, %mine: i32, %count: index):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %earlier = arith.cmpi ult, %j, %i : index
    %a = arith.shrsi %other, %four : i32
    %b = arith.shrsi %mine, %four : i32
    %less = arith.cmpi slt, %a, %b : i32
    %equal = arith.cmpi eq, %a, %b : i32
    %greater = arith.cmpi sgt, %other, %mine : i32
    %second = arith.andi %equal, %greater : i1
    %smaller = arith.ori %less, %second : i1
    %same = arith.cmpi eq, %other, %mine : i32
    %both = arith.andi %equal, %same : i1
    %tie = arith.andi %both, %earlier : i1
    %before = arith.ori %smaller, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}

// Elements that the body loads, along the first dimension, and a sum of conditions.
// CHECK-LABEL: func.func @loaded
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xi32>)
// CHECK: tensor.expand_shape %[[X]] {{.*}} into tensor<1x8x4xi32>
// CHECK: library_call = "rank"
func.func @loaded(%x: tensor<8x4xi32>) -> tensor<8x4xindex> {
  %none = arith.constant 0 : index
  %empty = tensor.empty() : tensor<8x4xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<8x4xindex>) -> tensor<8x4xindex>
  %window = tensor.empty() : tensor<8xi1>
  %y = linalg.generic {indexing_maps = [affine_map<(i, c, j) -> (j)>, affine_map<(i, c, j) -> (i, c)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%window : tensor<8xi1>) outs(%zeros : tensor<8x4xindex>) {
  ^bb0(%unused: i1, %count: index):
    %i = linalg.index 0 : index
    %c = linalg.index 1 : index
    %j = linalg.index 2 : index
    %other = tensor.extract %x[%j, %c] : tensor<8x4xi32>
    %mine = tensor.extract %x[%i, %c] : tensor<8x4xi32>
    %less = arith.cmpi slt, %other, %mine : i32
    %not_more = arith.cmpi sge, %mine, %other : i32
    %earlier = arith.cmpi ult, %j, %i : index
    %tie = arith.andi %not_more, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %term = arith.index_castui %before : i1 to index
    %n = arith.addi %term, %count : index
    linalg.yield %n : index
  } -> tensor<8x4xindex>
  return %y : tensor<8x4xindex>
}

// Places of 128 elements fit 8 bits.
// CHECK-LABEL: func.func @places_in_8_bits
// CHECK: library_call = "rank"
func.func @places_in_8_bits(%x: tensor<128xi32>) -> tensor<128xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %empty = tensor.empty() : tensor<128xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<128xindex>) -> tensor<128xindex>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<128xi32>, tensor<128xi32>) outs(%zeros : tensor<128xindex>) {
  ^bb0(%other: i32, %mine: i32, %count: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %own = arith.index_cast %i : index to i8
    %its = arith.index_cast %j : index to i8
    %earlier = arith.cmpi slt, %its, %own : i8
    %less = arith.cmpi slt, %other, %mine : i32
    %same = arith.cmpi eq, %other, %mine : i32
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<128xindex>
  return %y : tensor<128xindex>
}

// CHECK-LABEL: func.func @tensor_of_places_in_8_bits
// CHECK: library_call = "rank"
func.func @tensor_of_places_in_8_bits(%x: tensor<128xi32>) -> tensor<128xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %room = tensor.empty() : tensor<128xi8>
  %places = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%room : tensor<128xi8>) {
  ^bb0(%out: i8):
    %i = linalg.index 0 : index
    %place = arith.index_cast %i : index to i8
    linalg.yield %place : i8
  } -> tensor<128xi8>
  %empty = tensor.empty() : tensor<128xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<128xindex>) -> tensor<128xindex>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %x, %places, %places : tensor<128xi32>, tensor<128xi32>, tensor<128xi8>, tensor<128xi8>)
      outs(%zeros : tensor<128xindex>) {
  ^bb0(%other: i32, %mine: i32, %its: i8, %own: i8, %count: index):
    %earlier = arith.cmpi slt, %its, %own : i8
    %less = arith.cmpi slt, %other, %mine : i32
    %same = arith.cmpi eq, %other, %mine : i32
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<128xindex>
  return %y : tensor<128xindex>
}
