const width = 760;
const row = 46;
const left = 250;
const right = 90;

/** Draws a small curve for each thing: its cost at each size, and by how much it grew from the first to the last. */
export function drawGrowth(sizes: readonly number[], curves: ReadonlyMap<string, readonly number[]>): string {
  const first = Math.log2(sizes[0] ?? 1);
  const doublings = Math.log2(sizes.at(-1) ?? 1) - first || 1;
  const x = (size: number) => left + ((Math.log2(size) - first) / doublings) * (width - left - right);
  const lines = [...curves].map(([name, costs], index) => {
    const top = 40 + index * row;
    const scale = 2 * (costs[0] ?? 1);
    const y = (cost: number) => top + 30 - 28 * Math.min(1, cost / scale);
    const points = costs.map((cost, n) => `${x(sizes[n] ?? 1).toFixed(1)},${y(cost).toFixed(1)}`);
    const factor = ((costs.at(-1) ?? 0) / (costs[0] ?? 1)) ** (1 / doublings);
    return [
      `<text x="12" y="${top + 20}">${name}</text>`,
      `<line class="zero" x1="${left}" x2="${width - right}" y1="${top + 30}" y2="${top + 30}"/>`,
      `<polyline points="${points.join(' ')}"/>`,
      ...points.map((point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="2.5"/>`),
      `<text x="${width - right + 12}" y="${top + 20}">× ${factor.toFixed(2)}</text>`,
    ].join('\n');
  });
  const labels = sizes.map((size) => `<text class="size" x="${x(size)}" y="22">${size / 1_000_000} M</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${50 + curves.size * row}" role="img" aria-label="Cost of the same work as mail grows">
<style>text{font:13px system-ui,sans-serif;fill:#333}.size{text-anchor:middle;fill:#666}.zero{stroke:#ddd}polyline{fill:none;stroke:#2563a8;stroke-width:1.5}circle{fill:#2563a8}</style>
<rect width="100%" height="100%" fill="#fff"/>
${[...labels, ...lines].join('\n')}
</svg>
`;
}
