/** A number with its name, inside a `<dl className="figures">`; `more` says it in another way, such as a rate. */
export function Figure({ name, value, more }: { name: string; value: string; more?: string }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      {more ? <dd className="more">{more}</dd> : null}
    </div>
  );
}
