const periods: readonly [days: number, name: string][] = [
  [0, 'All time'],
  [1, 'Last 24 hours'],
  [7, 'Last 7 days'],
  [30, 'Last 30 days'],
  [90, 'Last 90 days'],
];

/** Which time the figures on paths are of: contacts that reached a step in so many days, or ever for 0. */
export function FiguresPeriod({ days, onChange }: { days: number; onChange: (days: number) => void }) {
  return (
    <label>
      Path counts:{' '}
      <select value={days} onChange={(event) => onChange(Number(event.target.value))}>
        {periods.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
