/** The data of an event as fields: each name with its value. */
export function EventData({ data }: { data: Readonly<Record<string, unknown>> | null }) {
  const fields = Object.entries(data ?? {});
  if (fields.length === 0) return <>–</>;
  return (
    <dl className="grid grid-cols-[fit-content(10rem)_minmax(0,1fr)] gap-x-3 text-sm">
      {fields.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="break text-muted" dir="auto">
            {name}
          </dt>
          <dd className="break line-clamp-3" dir="auto">
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
