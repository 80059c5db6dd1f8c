// RUN: ipu-opt %s --ipu-raise-ranks | filecheck %s

// Each of these differs in one thing from the places in a stable sort, and stays as it is.

#among = affine_map<(r, i, j) -> (r, j)>
#own = affine_map<(r, i, j) -> (r, i)>

// CHECK-NOT: library_call

// Of equal elements none comes first.
func.func @ties_share_a_rank(%x: tensor<4x8xf32>) -> tensor<4x8xindex> {
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
    %before = arith.cmpf olt, %other, %mine : f32
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}

// Of equal elements the later one comes first.
func.func @later_first(%x: tensor<4x8xf32>) -> tensor<4x8xindex> {
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
    %later = arith.cmpi ugt, %j, %i : index
    %less = arith.cmpf olt, %other, %mine : f32
    %more = arith.cmpf olt, %mine, %other : f32
    %not_more = arith.xori %more, %true : i1
    %tie = arith.andi %not_more, %later : i1
    %before = arith.ori %less, %tie : i1

    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}

// With a NaN neither comes before the other, wherever they stand.
func.func @nan_never_before(%x: tensor<4x8xf32>) -> tensor<4x8xindex> {
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
    %same = arith.cmpf oeq, %mine, %other : f32
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}

// Compared with other elements than its own.
func.func @elements_of_another_tensor(%x: tensor<4x8xf32>) -> tensor<4x8xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %room = tensor.empty() : tensor<4x8xf32>
  %sines = linalg.exp ins(%x : tensor<4x8xf32>) outs(%room : tensor<4x8xf32>) -> tensor<4x8xf32>
  %empty = tensor.empty() : tensor<4x8xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<4x8xindex>) -> tensor<4x8xindex>
  %y = linalg.generic {indexing_maps = [#among, #own, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %sines : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zeros : tensor<4x8xindex>) {
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

// Less by one key, tied by another that has nothing to do with it.
func.func @tied_by_another_key(%x: tensor<4x8xi32>) -> tensor<4x8xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %one32 = arith.constant 1 : i32
  %empty = tensor.empty() : tensor<4x8xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<4x8xindex>) -> tensor<4x8xindex>
  %y = linalg.generic {indexing_maps = [#among, #own, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xi32>, tensor<4x8xi32>) outs(%zeros : tensor<4x8xindex>) {
  ^bb0(%other: i32, %mine: i32, %count: index):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %earlier = arith.cmpi ult, %j, %i : index
    %less = arith.cmpi slt, %other, %mine : i32
    %a = arith.shrsi %other, %one32 : i32
    %b = arith.shrsi %mine, %one32 : i32
    %same = arith.cmpi eq, %a, %b : i32
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}

// Signed and unsigned at once.
func.func @mixed_signs(%x: tensor<4x8xi8>) -> tensor<4x8xindex> {
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
    %less = arith.cmpi slt, %other, %mine : i8
    %more = arith.cmpi ult, %mine, %other : i8
    %not_more = arith.xori %more, %true : i1
    %tie = arith.andi %not_more, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<4x8xindex>
  return %y : tensor<4x8xindex>
}

// Counted from one.
func.func @begins_with_one(%x: tensor<4x8xf32>) -> tensor<4x8xindex> {
  %none = arith.constant 1 : index
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

// Counted twice.
func.func @counts_by_two(%x: tensor<4x8xf32>) -> tensor<4x8xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 2 : index
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

// The places are told by numbers of 8 bits, which begin again at -128: element 128 is not behind element 0.
func.func @places_overflow(%x: tensor<129xi32>) -> tensor<129xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %empty = tensor.empty() : tensor<129xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<129xindex>) -> tensor<129xindex>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<129xi32>, tensor<129xi32>) outs(%zeros : tensor<129xindex>) {
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
  } -> tensor<129xindex>
  return %y : tensor<129xindex>
}

// As before, where they come from a tensor.
func.func @tensor_of_places_overflows(%x: tensor<129xi32>) -> tensor<129xindex> {
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %room = tensor.empty() : tensor<129xi8>
  %places = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%room : tensor<129xi8>) {
  ^bb0(%out: i8):
    %i = linalg.index 0 : index
    %place = arith.index_cast %i : index to i8
    linalg.yield %place : i8
  } -> tensor<129xi8>
  %empty = tensor.empty() : tensor<129xindex>
  %zeros = linalg.fill ins(%none : index) outs(%empty : tensor<129xindex>) -> tensor<129xindex>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %x, %places, %places : tensor<129xi32>, tensor<129xi32>, tensor<129xi8>, tensor<129xi8>)
      outs(%zeros : tensor<129xindex>) {
  ^bb0(%other: i32, %mine: i32, %its: i8, %own: i8, %count: index):
    %earlier = arith.cmpi slt, %its, %own : i8
    %less = arith.cmpi slt, %other, %mine : i32
    %same = arith.cmpi eq, %other, %mine : i32
    %tie = arith.andi %same, %earlier : i1
    %before = arith.ori %less, %tie : i1
    %next = arith.addi %count, %one : index
    %n = arith.select %before, %next, %count : index
    linalg.yield %n : index
  } -> tensor<129xindex>
  return %y : tensor<129xindex>
}
