// Numbers of many tiles, in as many points as a chart can show.

const EXACT_TILES = 4000;
const BUCKETS = 500;

/** "12", or with several IPUs "1,484 (IPU 1, tile 12)". */
function tileName(data, tile) {
  const each = data.target.tiles_per_ipu;
  return data.target.ipus === 1
    ? whole(tile)
    : `${whole(tile)} (IPU ${Math.floor(tile / each)}, tile ${whole(tile % each)})`;
}

/** The tiles that a zoomed part of the axis shows, cut into buckets: {first, last, exact, edges}. */
function tilesInView(range, tiles) {
  const first = Math.max(0, Math.floor((range.start / 100) * tiles - 0.5));
  const last = Math.min(tiles, Math.ceil((range.end / 100) * tiles + 0.5));
  const count = last - first <= EXACT_TILES ? last - first : BUCKETS;
  const edges = Array.from({ length: count + 1 }, (_, index) => first + Math.round(((last - first) * index) / count));
  return { first, last, exact: count === last - first, edges };
}

/** Smallest, mean and largest value of each bucket. */
function bucketed(values, { edges }) {
  const made = { min: [], mean: [], max: [] };
  for (let bucket = 0; bucket + 1 < edges.length; bucket++) {
    let [sum, min, max] = [0, Infinity, -Infinity];
    for (let tile = edges[bucket]; tile < edges[bucket + 1]; tile++) {
      const value = values[tile] ?? 0;
      sum += value;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    made.min.push(min);
    made.mean.push(sum / (edges[bucket + 1] - edges[bucket]));
    made.max.push(max);
  }
  return made;
}

/** Points of a step line through the middles of buckets, drawn out beyond both edges, where the axes clip it. */
function stepPoints(values, { edges }) {
  const middle = (bucket) => (edges[bucket] + edges[bucket + 1] - 1) / 2;
  const points = values.map((value, bucket) => [middle(bucket), value]);
  if (points.length) {
    points.unshift([edges[0] - 1.5, values[0]]);
    points.push([edges.at(-1) + 0.5, values.at(-1)]);
  }
  return points;
}

/** The index of the bucket that holds a tile, or of the nearest. */
function bucketOf(tile, { edges }) {
  const last = edges.findLastIndex((edge) => edge <= tile);
  return Math.max(0, Math.min(last, edges.length - 2));
}
