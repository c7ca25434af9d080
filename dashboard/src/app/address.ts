import { useNavigate, useParams, useSearch } from '@tanstack/react-router';

/** The project of this page. */
export function useProjectId(): string {
  return useParams({ strict: false }).project ?? '';
}

/**
 * Filters that live in the address, so that a list can be linked to and the back button works. Setting `undefined` or ''
 * takes a filter out; changing one replaces the entry in the history, because typing is no journey.
 */
export function useFilters(): [
  Record<string, string | undefined>,
  (change: Record<string, string | undefined>) => void,
] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const change = (next: Record<string, string | undefined>) => {
    const all = { ...search, ...next };
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ''));
    void navigate({ to: '.', search: kept, replace: true });
  };
  return [search, change];
}

/** A dialog of a page that its address can open, as `dialog`; null while none is. */
export function useDialog(): [string | null, (name: string | null) => void] {
  const [{ dialog }, change] = useFilters();
  return [dialog ?? null, (name) => change({ dialog: name ?? undefined })];
}
