import { count } from '../words/numbers.ts';
import { Button } from './Button.tsx';

/** Back and forth through a list in pages. */
export function Pager({
  found: { page, totalPages, total },
  onChange,
}: {
  found: { page: number; totalPages: number; total: number };
  onChange: (page: number) => void;
}) {
  return (
    <nav className="flex items-center justify-between gap-3 py-3 text-sm text-muted" aria-label="Pagination">
      <span>
        {count(total)} total{totalPages > 1 ? `, page ${count(page)} of ${count(totalPages)}` : ''}
      </span>
      {totalPages > 1 ? (
        <span className="row">
          <Button size="small" disabled={page <= 1} onClick={() => onChange(page - 1)}>
            Previous
          </Button>
          <Button size="small" disabled={page >= totalPages} onClick={() => onChange(page + 1)}>
            Next
          </Button>
        </span>
      ) : null}
    </nav>
  );
}
