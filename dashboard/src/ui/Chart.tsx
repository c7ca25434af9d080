import { useEffect, useRef } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** One line of a chart. `color` is the name of a custom property such as `--accent`. */
export interface Series {
  label: string;
  color: string;
  values: readonly number[];
}

/**
 * Lines over time. `days` are instants in milliseconds, ascending. The drawing says nothing to a screen reader: put the figures
 * beside it as a table as well.
 */
export function Chart({ days, series, height = 240 }: { days: readonly number[]; series: Series[]; height?: number }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
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
          {},
          ...series.map(({ label, color: name }) => ({
            label,
            stroke: color(name),
            width: 2,
            points: { show: days.length < 3 },
          })),
        ],
        axes: [axis, { ...axis, size: 56 }],
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
  }, [days, series, height]);
  return <div ref={place} className="chart w-full overflow-hidden text-muted" aria-hidden />;
}
