import { useEffect, useState } from 'react';
import { loaded } from '../api/load.ts';
import { firstUse } from '../app/activity.ts';

type Load<Part> = () => Promise<Part>;
const arrived = new Map<Load<unknown>, unknown>();

/**
 * A part of the dashboard that is loaded as soon as somebody uses the page, or at once where it `isUrgent`; null until it is there.
 * `load` has to be the same function each time, by which a part that was loaded before is known.
 */
export function usePart<Part>(load: Load<Part>, isUrgent = false): Part | null {
  const [part, setPart] = useState<Part | null>(() => (arrived.get(load) as Part | undefined) ?? null);
  const [failure, setFailure] = useState<{ error: unknown } | null>(null);
  const isThere = part !== null;
  useEffect(() => {
    if (isThere) return undefined;
    let isWanted = true;
    const get = async () => {
      if (!isUrgent) await firstUse;
      return loaded(load);
    };
    get().then(
      (got) => {
        arrived.set(load, got);
        if (isWanted) setPart(() => got);
      },
      (error: unknown) => {
        if (isWanted) setFailure({ error });
      },
    );
    return () => {
      isWanted = false;
    };
  }, [load, isUrgent, isThere]);
  // The page says that a later version has been started, as for any part that cannot be loaded.
  if (failure) throw failure.error;
  return part;
}

/** A screen reader finds everything after this time also where nobody moves or presses anything, in milliseconds. */
const wholeAfter = 3_000;

/** Whether what is out of sight is drawn: once somebody uses the page, or after a while. Until then the page draws what it shows. */
export function useWhole(): boolean {
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    let isOpen = true;
    const draw = () => {
      if (isOpen) setWhole(true);
    };
    void firstUse.then(draw);
    const timer = setTimeout(draw, wholeAfter);
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, []);
  return isWhole;
}
