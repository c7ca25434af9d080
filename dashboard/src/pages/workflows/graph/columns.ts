import { stepSize } from './graph.ts';

type Place = { x: number; y: number };
type Places = ReadonlyMap<string, Place>;
type Way = { fromStepId: string; toStepId: string };

/** The least space between two columns, in pixels of the graph: the path from one to the next runs in it. */
const columnGap = 144;
/** The most rows that stay in one column. */
const rowsOfColumn = 12;
/** How many times as wide as high a graph in columns is to be: about as a canvas. */
const aspect = 1.6;

/**
 * Puts a graph that is higher than twelve rows into columns side by side, read from the left. It is divided only between two
 * rows that a single path joins, so that nothing but that path leads from column to column; a graph without such rows stays as it is.
 */
export function inColumns(places: Places, ways: readonly Way[]): Map<string, Place> {
  const rows = [...new Set([...places.values()].map(({ y }) => y))].sort((one, other) => one - other);
  const cuts = rows.length > rowsOfColumn ? chosenCuts(rows, widthOf(places), cutsOf(rows, places, ways)) : [];
  const columns: (Place & { id: string })[][] = Array.from({ length: cuts.length + 1 }, () => []);
  for (const [id, { x, y }] of places) columns[cuts.filter((cut) => cut <= y).length]?.push({ id, x, y });
  const placed = new Map<string, Place>();
  let right = 0;
  for (const [n, column] of columns.entries()) {
    const previous = columns[n - 1];
    const top = Math.min(...column.map(({ y }) => y));
    const dx = previous ? right + gapBetween(previous, column) - Math.min(...column.map(({ x }) => x)) : 0;
    for (const { id, x, y } of column) placed.set(id, { x: x + dx, y: y + (rows[0] ?? 0) - top });
    right = Math.max(...column.map(({ x }) => x)) + stepSize.width + dx;
  }
  return placed;
}

/** The space between two columns: wider than any lane within them, so that the path from one to the next takes this one. */
function gapBetween(one: readonly Place[], other: readonly Place[]): number {
  const topOf = (column: readonly Place[]) => Math.min(...column.map(({ y }) => y));
  const bottom = Math.max(...one.map(({ y }) => y)) - topOf(one);
  const beside = other.filter(({ y }) => y - topOf(other) <= bottom);
  return Math.max(columnGap, widestLane(one) + 1, widestLane(beside) + 1);
}

function widestLane(column: readonly Place[]): number {
  const edges = column.map(({ x }) => x).sort((one, other) => one - other);
  return Math.max(...edges.map((x, n) => (edges[n + 1] ?? x) - x - stepSize.width));
}

function widthOf(places: Places): number {
  const all = [...places.values()].map(({ x }) => x);
  return Math.max(...all) - Math.min(...all) + stepSize.width + columnGap;
}

/** The rows that a column can begin with: one path leads there, from the row above. */
function cutsOf(rows: readonly number[], places: Places, ways: readonly Way[]): number[] {
  const heights = ways.map(({ fromStepId, toStepId }) => [
    places.get(fromStepId)?.y ?? 0,
    places.get(toStepId)?.y ?? 0,
  ]);
  return rows.filter((row, n) => {
    const crossing = heights.filter(([from = 0, to = 0]) => from < row && to >= row);
    const [only] = crossing;
    return n > 0 && crossing.length === 1 && only?.[0] === rows[n - 1] && only?.[1] === row;
  });
}

/** Of the possible cuts those that divide the rows most evenly into as many columns as the aspect asks for. */
function chosenCuts(rows: readonly number[], width: number, possible: readonly number[]): number[] {
  const height = (rows.at(-1) ?? 0) - (rows[0] ?? 0) + stepSize.height;
  const wanted = Math.max(2, Math.round(Math.sqrt((aspect * height) / width)));
  const chosen = new Set<number>();
  for (let n = 1; n < wanted; n += 1) {
    const ideal = (rows[0] ?? 0) + (height * n) / wanted;
    const free = possible.filter((cut) => cut > Math.max(0, ...chosen));
    const [best] = free.sort((one, other) => Math.abs(one - ideal) - Math.abs(other - ideal));
    // A column of a few steps would be no help.
    if (best !== undefined && Math.abs(best - ideal) < height / wanted / 2) chosen.add(best);
  }
  return [...chosen].sort((one, other) => one - other);
}
