// RUN: ipu-opt %s --ipu-split-scatters | filecheck %s

#update = affine_map<(d0, d1) -> (d0)>
#own = affine_map<(d0, d1) -> (d1)>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=8}>} {
// Two updates are left when 1,002 of them are in 8 parts: they go to the result itself.
// CHECK-DAG: #[[JOINED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @histogram
// CHECK-SAME: (%[[AT:.*]]: tensor<1002xindex>, %{{.*}}: tensor<1002xi1>, %{{.*}}: tensor<1002xf32>, %{{.*}}: tensor<50xindex>, %[[INTO:.*]]: tensor<50xf32>)
// CHECK: tensor.extract_slice %[[AT]][0] [2] [1]
// CHECK: %[[START:.*]] = linalg.generic {{.*}} library_call = "scatter_add"} {{.*}} outs(%[[INTO]] : tensor<50xf32>)
// CHECK: %[[REST:.*]] = tensor.extract_slice %[[AT]][2] [1000] [1]
// CHECK: tensor.expand_shape %[[REST]] {{.*}} output_shape [8, 125]
// CHECK: %[[NOUGHT:.*]] = arith.constant -0.0{{.*}} : f32
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[NOUGHT]] : f32) outs(%{{.*}} : tensor<8x50xf32>)
// CHECK: %[[PARTS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"], library_call = "scatter_add"
// CHECK-SAME: tensor<8x1xindex>, tensor<8x125xindex>, tensor<8x125xi1>, tensor<8x125xf32>, tensor<8xindex>, tensor<50xindex>) outs(%[[ZEROS]]
// CHECK: linalg.generic {indexing_maps = [#[[JOINED]], {{.*}}], iterator_types = ["parallel", "reduction"]} ins(%[[PARTS]] : tensor<8x50xf32>) outs(%[[START]]
// CHECK: arith.addf
func.func @histogram(%at: tensor<1002xindex>, %guard: tensor<1002xi1>, %updates: tensor<1002xf32>, %own: tensor<50xindex>,
                     %into: tensor<50xf32>) -> tensor<50xf32> {
  %y = linalg.generic {indexing_maps = [#update, #update, #update, #own, #own], iterator_types = ["reduction", "parallel"],
                       library_call = "scatter_add"}
      ins(%at, %guard, %updates, %own : tensor<1002xindex>, tensor<1002xi1>, tensor<1002xf32>, tensor<50xindex>)
      outs(%into : tensor<50xf32>) {
  ^bb0(%a: index, %b: i1, %c: f32, %d: index, %out: f32):
    linalg.yield %out : f32
  } -> tensor<50xf32>
  return %y : tensor<50xf32>
}

// The greatest of integers: partial results begin with the least one.
// CHECK-LABEL: func.func @greatest
// CHECK: %[[LEAST:.*]] = arith.constant -128 : i8
// CHECK: linalg.fill ins(%[[LEAST]] : i8) outs(%{{.*}} : tensor<8x50xi8>)
// CHECK: arith.maxsi
func.func @greatest(%at: tensor<1000xindex>, %guard: tensor<1000xi1>, %updates: tensor<1000xi8>, %own: tensor<50xindex>,
                    %into: tensor<50xi8>) -> tensor<50xi8> {
  %y = linalg.generic {indexing_maps = [#update, #update, #update, #own, #own], iterator_types = ["reduction", "parallel"],
                       library_call = "scatter_max"}
      ins(%at, %guard, %updates, %own : tensor<1000xindex>, tensor<1000xi1>, tensor<1000xi8>, tensor<50xindex>)
      outs(%into : tensor<50xi8>) {
  ^bb0(%a: index, %b: i1, %c: i8, %d: index, %out: i8):
    linalg.yield %out : i8
  } -> tensor<50xi8>
  return %y : tensor<50xi8>
}

// A later update replaces an earlier one.
// CHECK-LABEL: func.func @last_one_wins
// CHECK-NOT: linalg.fill
func.func @last_one_wins(%at: tensor<1000xindex>, %guard: tensor<1000xi1>, %updates: tensor<1000xf32>, %own: tensor<50xindex>,
                         %into: tensor<50xf32>) -> tensor<50xf32> {
  %y = linalg.generic {indexing_maps = [#update, #update, #update, #own, #own], iterator_types = ["reduction", "parallel"],
                       library_call = "scatter_set"}
      ins(%at, %guard, %updates, %own : tensor<1000xindex>, tensor<1000xi1>, tensor<1000xf32>, tensor<50xindex>)
      outs(%into : tensor<50xf32>) {
  ^bb0(%a: index, %b: i1, %c: f32, %d: index, %out: f32):
    linalg.yield %out : f32
  } -> tensor<50xf32>
  return %y : tensor<50xf32>
}

// To combine them would take longer than to look at all updates.
// CHECK-LABEL: func.func @large_table
// CHECK-NOT: linalg.fill
func.func @large_table(%at: tensor<300xindex>, %guard: tensor<300xi1>, %updates: tensor<300xf32>, %own: tensor<900000xindex>,
                       %into: tensor<900000xf32>) -> tensor<900000xf32> {
  %y = linalg.generic {indexing_maps = [#update, #update, #update, #own, #own], iterator_types = ["reduction", "parallel"],
                       library_call = "scatter_add"}
      ins(%at, %guard, %updates, %own : tensor<300xindex>, tensor<300xi1>, tensor<300xf32>, tensor<900000xindex>)
      outs(%into : tensor<900000xf32>) {
  ^bb0(%a: index, %b: i1, %c: f32, %d: index, %out: f32):
    linalg.yield %out : f32
  } -> tensor<900000xf32>
  return %y : tensor<900000xf32>
}

// Of many updates the number of the last one is found, of each row, and the rows are gathered.
// CHECK-LABEL: func.func @last_of_many
// CHECK-SAME: %[[ROWS:[a-z0-9]*]]: tensor<6000x3xf32>
// CHECK: library_call = "scatter_max"} ins({{.*}}) outs(%{{.*}} : tensor<{{[0-9]+}}x50x1xi32>)
// CHECK: %[[LAST:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<50x1xi32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<50x3xf32>)
// CHECK: %[[NEW:.*]] = tensor.extract %[[ROWS]][%{{.*}}, %{{.*}}]
// CHECK: arith.select %{{.*}}, %[[NEW]],
func.func @last_of_many(%at: tensor<6000x1xindex>, %guard: tensor<1x1xi1>, %rows: tensor<6000x3xf32>, %own: tensor<50xindex>,
                        %into: tensor<50x3xf32>) -> tensor<50x3xf32> {
  %e = tensor.empty() : tensor<1x3xindex>
  %columns = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<1x3xindex>) {
  ^bb0(%out: index):
    %j = linalg.index 1 : index
    linalg.yield %j : index
  } -> tensor<1x3xindex>
  %f = tensor.empty() : tensor<3xindex>
  %y = linalg.generic {
      indexing_maps = [affine_map<(u, i, j) -> (u, 0)>, affine_map<(u, i, j) -> (0, j)>, affine_map<(u, i, j) -> (0, 0)>,
                       affine_map<(u, i, j) -> (u, j)>, affine_map<(u, i, j) -> (i)>, affine_map<(u, i, j) -> (j)>,
                       affine_map<(u, i, j) -> (i, j)>],
      iterator_types = ["reduction", "parallel", "parallel"], library_call = "scatter_set"}
      ins(%at, %columns, %guard, %rows, %own, %f
          : tensor<6000x1xindex>, tensor<1x3xindex>, tensor<1x1xi1>, tensor<6000x3xf32>, tensor<50xindex>, tensor<3xindex>)
      outs(%into : tensor<50x3xf32>) {
  ^bb0(%a: index, %b: index, %c: i1, %d: f32, %g: index, %h: index, %out: f32):
    linalg.yield %out : f32
  } -> tensor<50x3xf32>
  return %y : tensor<50x3xf32>
}
}
