import { useEffect, useRef } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { count, locale } from '../words/numbers.ts';

/** One line of a chart. `color` is the name of a custom property such as `--accent`. */
export interface Series {
  label: string;
  color: string;
  values: readonly number[];
}

const daySeconds = 86_400;
const day = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' });
const hour = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: 'numeric' });
// Half an email is no mark of an axis.
const wholeSteps = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/**
 * Lines over time. `days` are instants in milliseconds, ascending. The drawing says nothing to a screen reader: put the figures
 * beside it as a table as well.
 */
export function Chart({ days, series, height = 240 }: { days: readonly number[]; series: Series[]; height?: number }) {
  const place = useRef<HTMLDivElement>(null);
  const isByDay = days.length < 2 || (days[1] ?? 0) - (days[0] ?? 0) >= daySeconds * 1000;
  useEffect(() => {
    const momentText = (at: number) => (isByDay ? day : hour).format(at);
    const element = place.current;
    if (element === null) return undefined;
    const style = getComputedStyle(element);
    const color = (name: string) => style.getPropertyValue(name).trim() || style.color;
    const axis = {
      font: `12px ${style.fontFamily}`,
      stroke: style.color,
      grid: { stroke: color('--grid'), width: 1 },
      ticks: { show: false },
    };
    const plot = new Plot(
      {
        width: element.clientWidth,
        height,
        series: [
          { value: (_plot, at) => (at === null ? '' : momentText(at * 1000)) },
          ...series.map(({ label, color: name }) => ({
            label,
            value: (_plot: Plot, figure: number | null) => (figure === null ? '' : count(figure)),
            stroke: color(name),
            width: 2,
            points: { show: days.length < 3 },
          })),
        ],
        axes: [
          {
            ...axis,
            space: isByDay ? 50 : 110,
            values: (_plot, instants, _axis, _space, step) =>
              instants.map((at) => (step < daySeconds ? hour : day).format(at * 1000)),
          },
          { ...axis, size: 56, incrs: wholeSteps, values: (_plot, figures) => figures.map((figure) => count(figure)) },
        ],
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] } },
        cursor: { points: { size: 6 } },
      },
      [days.map((day) => day / 1000), ...series.map(({ values }) => [...values])],
      element,
    );
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      plot.destroy();
    };
  }, [days, series, height, isByDay]);
  return <div ref={place} className="chart w-full overflow-hidden text-muted" aria-hidden />;
}
