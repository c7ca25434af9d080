import { useState } from 'react';
import type { Contact, ContactFilter } from './list.ts';

/** Who is selected in a list: some contacts, or everybody who matches but some. */
export interface ContactSelection {
  /** Whether everybody who matches is selected, loaded or not. */
  isAll: boolean;
  has: (id: string) => boolean;
  count: number;
  /** Selects or deselects a contact; with `upTo` everybody between it and the last one as well. */
  toggle: (id: string, upTo?: boolean) => void;
  toggleLoaded: () => void;
  selectAll: () => void;
  clear: () => void;
  /** As bulk changes take it. */
  selector: (filter: ContactFilter) => Selector;
}

/** Contacts as bulk changes take them. */
export type Selector =
  | { mode: 'ids'; contactIds: string[] }
  | { mode: 'query'; filter: ContactFilter; excludeIds: string[] };

/** The selection of a list that has loaded `rows` of `total` contacts; another `list` begins without one. */
export function useSelection(list: string, rows: readonly Contact[], total: number): ContactSelection {
  const [held, setHeld] = useState({ list, isAll: false, ids: new Set<string>(), last: '' });
  const { isAll, ids, last } = held.list === list ? held : { isAll: false, ids: new Set<string>(), last: '' };
  const set = (next: { isAll: boolean; ids: Set<string>; last?: string }) => setHeld({ list, last: '', ...next });
  const has = (id: string) => ids.has(id) !== isAll;
  const loaded = rows.map(({ id }) => id);
  const mark = (marked: readonly string[], selected: boolean, from: string) => {
    const next = new Set(ids);
    for (const id of marked) selected === isAll ? next.delete(id) : next.add(id);
    set({ isAll, ids: next, last: from });
  };
  return {
    isAll,
    has,
    count: isAll ? total - ids.size : ids.size,
    toggle: (id, upTo = false) => {
      const [a, b] = [loaded.indexOf(last), loaded.indexOf(id)].sort((one, other) => one - other);
      const range = upTo && a !== undefined && a >= 0 ? loaded.slice(a, (b ?? a) + 1) : [id];
      mark(range, !has(id), id);
    },
    toggleLoaded: () => (loaded.every(has) ? set({ isAll: false, ids: new Set() }) : mark(loaded, true, '')),
    selectAll: () => set({ isAll: true, ids: new Set() }),
    clear: () => set({ isAll: false, ids: new Set() }),
    selector: (filter) =>
      isAll ? { mode: 'query', filter, excludeIds: [...ids] } : { mode: 'ids', contactIds: [...ids] },
  };
}
