import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { answer, api } from '../api/client.ts';
import { toApiError, Unreachable } from '../api/errors.ts';
import { reportUnreachable } from '../api/signals.ts';

/** The signed-in user. */
export interface User {
  id: string;
  email: string;
}

/**
 * Who is signed in; null for nobody. A plain request, so that nobody is asked to sign in again before they did once.
 * @throws ApiError with the code EMAIL_VERIFICATION_REQUIRED while the address has to be confirmed first
 */
export const whoAmI = queryOptions({
  queryKey: ['me'],
  staleTime: 60_000,
  queryFn: async (): Promise<User | null> => {
    const response = await fetch('/users/@me').catch(() => {
      reportUnreachable();
      throw new Unreachable();
    });
    // Read in any case: the browser keeps a connection for an answer that nobody reads and no cache may take.
    const body: unknown = await response.json().catch(() => null);
    if (response.ok) return body as User;
    if (response.status === 401) return null;
    throw toApiError(response.status, body);
  },
});

/** The projects of the signed-in user, with the role in each. */
export const myProjects = queryOptions({
  queryKey: ['projects'],
  staleTime: 60_000,
  queryFn: () => answer(api.GET('/users/@me/projects')),
});

const remembered = 'fernpost.project';

/** The project that was looked at last, for links that name none. */
export function lastProject(): string | null {
  return localStorage.getItem(remembered);
}

/** Remembers which project is being looked at. */
export function rememberProject(id: string): void {
  localStorage.setItem(remembered, id);
}

/** Ends the session and leads to the sign-in. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await fetch('/auth/logout');
    queries.clear();
    await navigate({ to: '/auth/login' });
  };
}
