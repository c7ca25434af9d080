import { useState } from 'react';

/**
 * For a page that writes something new, which gets an address of its own with the first save: the key of its editor, which stays the same
 * across that change, so that what is typed meanwhile is kept.
 * @param id what the address names; `new` before it exists
 */
export function useCreatedHere(id: string): { key: string; isCreatedHere: boolean; onCreated: (id: string) => void } {
  const [last, setLast] = useState(id);
  const [created, setCreated] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  if (id !== last) {
    setLast(id);
    // Whoever begins another one gets an empty editor.
    if (id === 'new') {
      setCreated(null);
      setRound(round + 1);
    }
  }
  const isCreatedHere = id === created;
  return { key: id === 'new' || isCreatedHere ? `new ${round}` : id, isCreatedHere, onCreated: setCreated };
}
