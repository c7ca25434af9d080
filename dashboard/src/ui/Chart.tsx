import { useEffect, useRef } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { count, lazily, locale } from '../words/numbers.ts';
import { isMidnight, spanOf, ticksOf, type Unit, unitMs } from '../words/time-axis.ts';

/** One line of a chart, or its bars. `color` is the name of a custom property such as `--accent`. */
interface Series {
  label: string;
  color: string;
  values: readonly number[];
}

const format = (options: Intl.DateTimeFormatOptions) =>
  lazily(() => new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', ...options }));
const days = { hour: format({}), day: format({ timeZone: 'UTC' }) };
const hours = format({ hour: 'numeric' });
const moments = { hour: format({ hour: 'numeric', minute: '2-digit' }), day: days.day };
// Half an email is no mark of an axis.
const wholeSteps = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

const barPaths = Plot.paths.bars?.({ size: [0.7, 28] });

interface Drawn {
  instants: readonly number[];
  unit: Unit;
  series: Series[];
  bars?: boolean;
  height?: number;
}

/**
 * Lines over time, or with `bars` a bar for each instant, later series in front. `instants` are milliseconds, ascending, one for each `unit`. The drawing says nothing to a screen reader: put
 * the figures beside it as a table as well.
 */
export function Chart({ instants, unit, series, bars = false, height = 240 }: Drawn) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let width = element.clientWidth;
    const plot = plotIn(element, { instants, unit, series, bars, height, width });
    // It tells of the size once at first, by which everything would be drawn again.
    const sizes = new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      plot.setSize({ width, height });
    });
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      plot.destroy();
    };
  }, [instants, unit, series, bars, height]);
  return <div ref={place} className="chart w-full overflow-hidden text-muted" aria-hidden />;
}

function plotIn(
  element: HTMLElement,
  { instants, unit, series, bars, height, width }: Required<Drawn> & { width: number },
): Plot {
  const space = unit === 'day' ? 50 : 110;
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim() || style.color;
  const axis = axisOf(style, color('--grid'));
  return new Plot(
    {
      width,
      height,
      // The last label is centered on the end of the axis, so half of it needs room beyond.
      padding: [null, space / 2, null, null],
      series: [
        { value: (_plot, at) => (at === null ? '' : moments[unit]().format(at * 1000)) },
        ...series.map(({ label, color: name }) => ({
          label,
          value: (_plot: Plot, figure: number | null) => (figure === null ? '' : count(figure)),
          stroke: color(name),
          ...(bars
            ? { width: 0, fill: color(name), paths: barPaths, points: { show: false } }
            : { width: 2, points: { show: instants.length < 3 } }),
        })),
      ],
      axes: [
        {
          ...axis,
          splits: (drawn, _axis, from, to) =>
            ticksOf([from * 1000, to * 1000], drawn.width / space, unit).map((at) => at / 1000),
          values: (_plot, ticks) => {
            const isByDay = ticks.every((at) => isMidnight(at * 1000, unit));
            return ticks.map((at) => (isByDay ? days[unit] : hours)().format(at * 1000));
          },
        },
        { ...axis, size: 56, incrs: wholeSteps, values: (_plot, figures) => figures.map((figure) => count(figure)) },
      ],
      scales: {
        x: {
          range: (_plot, low, high) => {
            // Of a single point uPlot makes a thousand days.
            const last = Math.min(high * 1000, instants.at(-1) ?? 0);
            const [from, to] = spanOf([low * 1000, last], unit);
            // The first and the last bar are as wide as the others.
            const margin = bars ? unitMs[unit] / 2 : 0;
            return [(from - margin) / 1000, (to + margin) / 1000];
          },
        },
        y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] },
      },
      cursor: { points: { size: 6 } },
    },
    [instants.map((at) => at / 1000), ...series.map(({ values }) => [...values])],
    element,
  );
}

function axisOf({ fontFamily, color }: CSSStyleDeclaration, grid: string) {
  return { font: `12px ${fontFamily}`, stroke: color, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
}
