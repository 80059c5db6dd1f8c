// RUN: ipu-translate --to-kernels %s | filecheck %s
// RUN: ipu-translate --to-numpy --kernels=never %s | filecheck %s --check-prefix=NEVER
// One row of updates after the other, if the row that it is added to is inside: as a vector.

// CHECK:      func @run0(
// CHECK:        scf.for %[[I:.*]] = {{.*}} : i64 {
// CHECK:          %[[ROW:.*]] = llvm.load {{.*}} -> i64
// CHECK:          %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %{{.*}} : i64
// CHECK:          scf.if %[[INSIDE]] {
// CHECK:            %[[NEW:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK:            %[[OLD:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK:            arith.addf %[[OLD]], %[[NEW]] : vector<16xf32>
// CHECK:            llvm.store {{.*}} : vector<16xf32>, !llvm.ptr

// NEVER:      run_codelet('scatter_add', 
#rows = affine_map<(p, k, r, c) -> (p, 0)>
#columns = affine_map<(p, k, r, c) -> (0, k)>
#guard = affine_map<(p, k, r, c) -> (0, 0)>
#update = affine_map<(p, k, r, c) -> (p, k)>
#row = affine_map<(p, k, r, c) -> (r)>
#column = affine_map<(p, k, r, c) -> (c)>
#out = affine_map<(p, k, r, c) -> (r, c)>
memref.global "private" constant @always : memref<1x1xi1> = dense<true>
memref.global "private" constant @five : memref<5xindex> = dense<[0, 1, 2, 3, 4]>
memref.global "private" constant @sixteen : memref<16xindex> = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]>
func.func @main(%table: memref<5x16xf32>, %at: memref<3x1xindex>, %new: memref<3x16xf32>) -> memref<5x16xf32> {
  %always = memref.get_global @always : memref<1x1xi1>
  %five = memref.get_global @five : memref<5xindex>
  %sixteen = memref.get_global @sixteen : memref<16xindex>
  %columns = memref.expand_shape %sixteen [[0, 1]] output_shape [1, 16] : memref<16xindex> into memref<1x16xindex>
  %out = memref.alloc() : memref<5x16xf32>
  memref.copy %table, %out : memref<5x16xf32> to memref<5x16xf32>
  linalg.generic {indexing_maps = [#rows, #columns, #guard, #update, #row, #column, #out],
      iterator_types = ["reduction", "reduction", "parallel", "parallel"], library_call = "scatter_add"}
      ins(%at, %columns, %always, %new, %five, %sixteen : memref<3x1xindex>, memref<1x16xindex>, memref<1x1xi1>,
          memref<3x16xf32>, memref<5xindex>, memref<16xindex>) outs(%out : memref<5x16xf32>) {
  ^bb0(%a: index, %b: index, %c: i1, %d: f32, %e: index, %f: index, %o: f32):
    linalg.yield %o : f32
  }
  return %out : memref<5x16xf32>
}
