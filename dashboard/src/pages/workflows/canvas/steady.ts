import { useRef, useState } from 'react';

type Call = (...args: unknown[]) => unknown;

/** Functions that stay the same at every rendering and call those of the latest: what they are given to need not be drawn again for them. */
export function useSteady<Calls extends object>(calls: Calls): Calls {
  const latest = useRef(calls);
  latest.current = calls;
  const [steady] = useState(() => {
    const names = Object.keys(calls) as (keyof Calls)[];
    const call =
      (name: keyof Calls): Call =>
      (...args) =>
        (latest.current[name] as Call)(...args);
    return Object.fromEntries(names.map((name) => [name, call(name)])) as Calls;
  });
  return steady;
}
