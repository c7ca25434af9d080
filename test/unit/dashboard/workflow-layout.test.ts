import { describe, expect, test } from 'vitest';
import { stepSize, wayKey, waysOut } from '../../../dashboard/src/pages/workflows/graph/graph.ts';
import { automaticLayout } from '../../../dashboard/src/pages/workflows/graph/layout.ts';
import { outlineOf } from '../../../dashboard/src/pages/workflows/graph/outline.ts';
import { roundedPath, route } from '../../../dashboard/src/pages/workflows/graph/route.ts';
import type { Step, Transition } from '../../../dashboard/src/pages/workflows/graph/shapes.ts';
import { legibleZoom, stepsInSight } from '../../../dashboard/src/pages/workflows/graph/sight.ts';

interface Graph {
  steps: Step[];
  ways: Transition[];
}

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const position = { x: 0, y: 0 };
const branching = (random: () => number): Pick<Step, 'type' | 'config'> => {
  const kind = random();
  if (kind < 0.4) return { type: 'DELAY', config: {} };
  if (kind < 0.7) return { type: 'CONDITION', config: { field: 'data.plan' } };
  if (kind < 0.8) return { type: 'WAIT_FOR_EVENT', config: { timeout: 60 } };
  const ids = ['a', 'b', 'c', 'd'].slice(0, 2 + Math.floor(random() * 3));
  return { type: 'CONDITION', config: { mode: 'multi', branches: ids.map((id) => ({ id })) } };
};

/**
 * A random workflow. Where `joins` is set, paths that lie beside each other may meet again, so that the graph still can be
 * drawn without a crossing. Steps and paths stand in random order.
 */
function workflow(seed: number, size: number, joins: boolean): Graph {
  const random = numbers(seed);
  const steps: Step[] = [];
  const ways: Transition[] = [];
  const add = (made: Pick<Step, 'type' | 'config'>): Step => {
    const step = { id: `s${steps.length}`, name: '', position, templateId: null, ...made };
    steps.push(step);
    return step;
  };
  // Open ends from left to right; each becomes a step, or ends. Neighbors may come together in one step.
  let ends: { from: Step; branch: string | null; waitOutcome: Transition['waitOutcome'] }[] = [];
  const open = (from: Step) =>
    waysOut(from)
      .filter(({ key, waitOutcome }) => from.type !== 'WAIT_FOR_EVENT' || waitOutcome !== null || key !== 'next')
      .map(({ branch, waitOutcome }) => ({ from, branch, waitOutcome }));
  ends = open(add({ type: 'TRIGGER', config: {} }));
  while (ends.length > 0 && steps.length < size) {
    const at = Math.floor(random() * ends.length);
    const many = joins && random() < 0.35 ? 2 + Math.floor(random() * 2) : 1;
    const met = ends.slice(at, at + many);
    const step = add(random() < 0.12 && ends.length > met.length ? { type: 'EXIT', config: {} } : branching(random));
    for (const { from, branch, waitOutcome } of met) {
      if (ways.some((way) => way.fromStepId === from.id && way.toStepId === step.id)) continue;
      ways.push({ id: `w${ways.length}`, fromStepId: from.id, toStepId: step.id, branch, waitOutcome, priority: 0 });
    }
    ends.splice(at, met.length, ...open(step));
  }
  const mixed = <T>(list: T[]): T[] =>
    list
      .map((each) => [random(), each] as const)
      .sort(([a], [b]) => a - b)
      .map(([, each]) => each);
  const [first, ...rest] = steps;
  return { steps: first ? [first, ...mixed(rest)] : [], ways: mixed(ways) };
}

type Segment = [from: { x: number; y: number }, to: { x: number; y: number }, way: Transition];

/** Every path as it is drawn: from its place at the lower edge of a step to the middle of the upper edge of the next one. */
function segments({ steps, ways }: Graph, places: ReturnType<typeof automaticLayout>): Segment[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  return ways.flatMap((way) => {
    const step = byId.get(way.fromStepId) as Step;
    const keys = waysOut(step).map(({ key }) => key);
    const from = places.get(way.fromStepId) ?? position;
    const to = places.get(way.toStepId) ?? position;
    const part = (keys.indexOf(wayKey(way)) + 0.5) / keys.length;
    const points = route(
      { x: from.x + part * stepSize.width, y: from.y + stepSize.height },
      { x: to.x + stepSize.width / 2, y: to.y },
      [...places.values()],
    );
    return points.slice(1).map((point, n): Segment => [points[n] ?? point, point, way]);
  });
}

/** Whether two segments have a point in common that is no end which they share. */
function cross([a, b]: Segment, [c, d]: Segment): boolean {
  const side = (p: typeof a, q: typeof a, r: typeof a) =>
    Math.sign((q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x));
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

const crossings = (all: readonly Segment[]) =>
  all.flatMap((one, n) =>
    all.slice(n + 1).flatMap((other) => (cross(one, other) ? [`${one[2].id} ${other[2].id}`] : [])),
  );

function overlapping(places: ReturnType<typeof automaticLayout>): string[] {
  const boxes = [...places];
  return boxes.flatMap(([id, a], n) =>
    boxes
      .slice(n + 1)
      .flatMap(([other, b]) =>
        Math.abs(a.x - b.x) < stepSize.width && Math.abs(a.y - b.y) < stepSize.height ? [`${id} ${other}`] : [],
      ),
  );
}

/** Steps that a segment passes through. */
function stepsUnder([from, to, way]: Segment, places: ReturnType<typeof automaticLayout>): string[] {
  return [...places].flatMap(([id, { x, y }]) =>
    Array.from({ length: 21 }, (_, n) => n / 20).some((t) => {
      const [px, py] = [from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t];
      return px > x && px < x + stepSize.width && py > y && py < y + stepSize.height;
    })
      ? [`${way.id} through ${id}`]
      : [],
  );
}

const seeds = Array.from({ length: 150 }, (_, seed) => seed);

describe('Arrange', () => {
  test.each(seeds)('crosses no two paths of a random tree (seed %i)', (seed) => {
    const graph = workflow(seed, 4 + (seed % 40), false);
    const places = automaticLayout(graph.steps, graph.ways);
    const all = segments(graph, places);
    expect([crossings(all), overlapping(places)]).toEqual([[], []]);
    // Paths of one step end in the order in which they leave it.
    for (const { id } of graph.steps) {
      const own = all.filter(([, , way]) => way.fromStepId === id).sort(([a], [b]) => a.x - b.x);
      const ends = own.map(([, to]) => to.x);
      expect(ends).toEqual([...ends].sort((a, b) => a - b));
    }
  });

  test.each(seeds)('leads no path through a step where paths meet again (seed %i)', (seed) => {
    const graph = workflow(seed, 4 + (seed % 30), true);
    const places = automaticLayout(graph.steps, graph.ways);
    expect([segments(graph, places).flatMap((path) => stepsUnder(path, places)), overlapping(places)]).toEqual([
      [],
      [],
    ]);
  });

  test.each(seeds)(
    'crosses no two paths from row to row where paths meet again, and few that go past steps (seed %i)',
    (seed) => {
      const graph = workflow(seed, 4 + (seed % 30), true);
      const places = automaticLayout(graph.steps, graph.ways);
      const all = segments(graph, places);
      const past = new Set(graph.ways.filter((way) => all.filter((each) => each[2] === way).length > 1));
      expect(crossings(all.filter(([, , way]) => !past.has(way)))).toEqual([]);
      expect(crossings(all).length).toBeLessThanOrEqual(0.6 * past.size);
    },
  );

  test('keeps what ends between two paths that meet above their meeting, and a path that skips steps beside them', () => {
    const step = (id: string, type: Step['type'], config = {}): Step => ({
      id,
      type,
      name: id,
      position,
      config,
      templateId: null,
    });
    const steps = [
      step('trigger', 'TRIGGER'),
      step('after', 'SEND_EMAIL'),
      step('plan', 'CONDITION', { mode: 'multi', branches: [{ id: 'a' }, { id: 'b' }] }),
      step('mail', 'SEND_EMAIL'),
      step('wait', 'DELAY'),
      step('end', 'EXIT'),
      step('first', 'DELAY'),
    ];
    const ways = [
      ['trigger', 'plan', null],
      ['plan', 'after', 'default'],
      ['plan', 'first', 'b'],
      ['first', 'end', null],
      ['plan', 'mail', 'a'],
      ['mail', 'after', null],
      ['after', 'wait', null],
    ].map(
      ([fromStepId, toStepId, branch], n) =>
        ({ id: `w${n}`, fromStepId, toStepId, branch, waitOutcome: null, priority: 0 }) as Transition,
    );
    const places = automaticLayout(steps, ways);
    const all = segments({ steps, ways }, places);
    expect([crossings(all), all.flatMap((path) => stepsUnder(path, places))]).toEqual([[], []]);
    expect(places.get('end')?.y).toBeLessThan(places.get('after')?.y ?? 0);
    const [mail = 0, first = 0] = ['mail', 'first'].map((id) => places.get(id)?.x);
    expect(mail).toBeLessThan(first);
  });
});

describe('a long graph', () => {
  const line = (length: number) => {
    const steps: Step[] = Array.from({ length }, (_, n) => ({
      id: `s${n}`,
      type: n === 0 ? 'TRIGGER' : 'DELAY',
      name: `Step ${n}`,
      position,
      config: {},
      templateId: null,
    }));
    const ways = steps.slice(1).map(({ id }, n): Transition => {
      const between = { fromStepId: `s${n}`, toStepId: id };
      return { id: `w${n}`, ...between, branch: null, waitOutcome: null, priority: 0 };
    });
    return { steps, ways };
  };
  const columnsOf = (places: ReturnType<typeof automaticLayout>) => [
    ...new Set([...places.values()].map(({ x }) => x)),
  ];
  const sizeOf = (places: ReturnType<typeof automaticLayout>) => {
    const all = [...places.values()];
    return [
      Math.max(...all.map(({ x }) => x)) - Math.min(...all.map(({ x }) => x)) + stepSize.width,
      Math.max(...all.map(({ y }) => y)) - Math.min(...all.map(({ y }) => y)) + stepSize.height,
    ] as const;
  };

  test('goes on in columns side by side, about as wide as a canvas, and no path runs through a step', () => {
    const graph = line(60);
    const places = automaticLayout(graph.steps, graph.ways);
    const [width, height] = sizeOf(places);
    expect(width / height).toBeGreaterThan(1);
    expect(width / height).toBeLessThan(2.2);
    const all = segments(graph, places);
    expect([crossings(all), all.flatMap((path) => stepsUnder(path, places)), overlapping(places)]).toEqual([
      [],
      [],
      [],
    ]);
    // Read from the left, and in each column from the top.
    const inOrder = [...places].sort(([, a], [, b]) => a.x - b.x || a.y - b.y).map(([id]) => id);
    expect(inOrder).toEqual(graph.steps.map(({ id }) => id));
  });

  test('of twelve rows stays in one column, and one of thirteen has two', () => {
    const [short, long] = [line(12), line(13)].map(({ steps, ways }) => columnsOf(automaticLayout(steps, ways)).length);
    expect(short).toBe(1);
    expect(long).toBeGreaterThan(1);
  });

  test('is not divided where more than one path leads on', () => {
    const plan = { id: 'plan', type: 'CONDITION' as const, name: '', position, config: { field: 'data.plan' } };
    const { steps, ways } = line(2);
    const branches = ['yes', 'no'].flatMap((branch) =>
      Array.from({ length: 20 }, (_, n) => ({
        step: { id: `${branch}${n}`, type: 'DELAY' as const, name: '', position, config: {}, templateId: null },
        way: {
          id: `${branch}-${n}`,
          fromStepId: n === 0 ? 'plan' : `${branch}${n - 1}`,
          toStepId: `${branch}${n}`,
          branch: n === 0 ? branch : null,
          waitOutcome: null,
          priority: 0,
        },
      })),
    );
    const all = [...steps.slice(0, 1), { ...plan, templateId: null }, ...branches.map(({ step }) => step)];
    const first = { ...(ways[0] as Transition), toStepId: 'plan' };
    const places = automaticLayout(all, [first, ...branches.map(({ way }) => way)]);
    const [yes, no] = ['yes', 'no'].map((branch) =>
      Array.from({ length: 20 }, (_, n) => places.get(`${branch}${n}`)?.x),
    );
    expect([new Set(yes).size, new Set(no).size]).toEqual([1, 1]);
  });

  test('shows at a legible zoom what a window has room for, the first step always, and all of a small one', () => {
    const graph = line(60);
    const places = automaticLayout(graph.steps, graph.ways);
    const placed = graph.steps.map(({ id }) => ({ id, position: places.get(id) ?? position }));
    const seen = stepsInSight(placed, { width: 1000, height: 600 });
    const seenPlaces = new Map(seen.map((each) => [each.id, each.position]));
    const [width, height] = sizeOf(seenPlaces);
    expect([width * legibleZoom <= 1000, height * legibleZoom <= 600, seen[0]?.id]).toEqual([true, true, 's0']);
    expect(seen.length).toBeGreaterThan(4);
    expect(stepsInSight(placed, { width: 100, height: 50 }).map(({ id }) => id)).toEqual(['s0']);
    expect(stepsInSight(placed.slice(0, 3), { width: 1000, height: 700 })).toHaveLength(3);
    expect(stepsInSight([], { width: 1000, height: 700 })).toEqual([]);
  });
});

describe('the outline', () => {
  test('has each branch to its end before the next one, what they join in after both, and loose steps last', () => {
    const step = (id: string, type: Step['type'], config = {}): Step => ({
      id,
      type,
      name: id,
      position,
      config,
      templateId: null,
    });
    const way = (fromStepId: string, toStepId: string, branch: string | null = null): Transition => ({
      id: `${fromStepId} ${toStepId}`,
      fromStepId,
      toStepId,
      branch,
      waitOutcome: null,
      priority: 0,
    });
    const steps = [
      step('loose', 'EXIT'),
      step('joined', 'DELAY'),
      step('left', 'DELAY'),
      step('right', 'DELAY'),
      step('plan', 'CONDITION', { field: 'data.plan' }),
      step('trigger', 'TRIGGER'),
      step('left end', 'WEBHOOK'),
    ];
    const ways = [
      way('plan', 'right', 'no'),
      way('right', 'joined'),
      way('left end', 'joined'),
      way('left', 'left end'),
      way('plan', 'left', 'yes'),
      way('trigger', 'plan'),
    ];
    expect(outlineOf(steps, ways).map(({ step: { id }, by }) => [id, by])).toEqual([
      ['trigger', ''],
      ['plan', ''],
      ['left', 'yes'],
      ['left end', ''],
      ['right', 'no'],
      ['joined', ''],
      ['loose', ''],
    ]);
  });

  test.each(seeds.slice(0, 30))('has every step once, none before what leads to it (seed %i)', (seed) => {
    const { steps, ways } = workflow(seed, 40, true);
    const order = outlineOf(steps, ways).map(({ step: { id } }) => id);
    expect([...order].sort()).toEqual(steps.map(({ id }) => id).sort());
    for (const { fromStepId, toStepId } of ways)
      expect(order.indexOf(fromStepId)).toBeLessThan(order.indexOf(toStepId));
  });
});

test('a path to a step higher up keeps to a free lane, and is drawn with round corners', () => {
  const steps = [0, 1, 2].flatMap((n) => [
    { x: 0, y: n * 192 },
    { x: 336, y: n * 192 },
  ]);
  const points = route({ x: 120, y: 488 }, { x: 456, y: 0 }, steps);
  const lane = points[2]?.x ?? 0;
  expect([lane >= 264, lane <= 312, points.at(-1)]).toEqual([true, true, { x: 456, y: 0 }]);
  expect(roundedPath(points)).toMatch(/^M 120,488( L \S+ Q \S+ \S+){4} L 456,0$/);
});
