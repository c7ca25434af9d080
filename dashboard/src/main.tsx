import './storage/earlier-storage.ts';
import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError, Unreachable } from './api/errors.ts';
import { serviceReachable } from './api/signals.ts';
import './app/activity.ts';
import { SignInAgain } from './app/SignInAgain.tsx';
import { whoAmI } from './app/session.ts';
import { router } from './router.tsx';
import { Toasts, toast } from './ui/toasts.tsx';
import './styles/app.css';

const queries = new QueryClient({
  mutationCache: new MutationCache({
    onError: (error) => {
      if (error instanceof Unreachable)
        toast('Not saved: Fernpost can’t be reached. Try again when it is back.', 'warn');
    },
  }),
  defaultOptions: {
    queries: {
      // Without a network a request fails and says so, rather than waiting unseen.
      networkMode: 'always',
      staleTime: 10_000,
      // A request that the service refused is not retried; one that did not reach it is.
      retry: (count, error) =>
        !(error instanceof ApiError && error.status < 500) && count < (error instanceof Unreachable ? 60 : 2),
      retryDelay: 2_000,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

// A question that was given up while the service was away is asked again as soon as it is back.
serviceReachable.subscribe(() => {
  if (serviceReachable.get())
    void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.error instanceof Unreachable });
});

// Who is signed in is asked, and the page's own script loaded, beside one another and before anything is drawn. What fails here is
// asked for again by the router, which tells of it.
if (!window.location.pathname.startsWith('/auth/')) void queries.prefetchQuery(whoAmI);
const [matched] = router.getMatchedRoutes(window.location.pathname);
for (const route of matched) void Promise.resolve(router.loadRouteChunk(route)).catch(() => undefined);

const place = document.getElementById('root');
if (place === null) throw new Error('index.html has no element "root"');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} context={{ queries }} />
      <SignInAgain />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);
