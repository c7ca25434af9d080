import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { ApiError, answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';

/** The report of a dry run. */
export type DryRun = components['schemas']['GetCampaignDryRunResult']['data'];

/** A smaller audience is rendered within seconds, of a larger one only a sample unless somebody asks for all. */
const sampledAbove = 10_000;
export const sampleSize = 1_000;

/** How many messages a dry run renders unless somebody asks for all. */
export function sampleOf(recipients: number): 'all' | number {
  return recipients > sampledAbove ? sampleSize : 'all';
}

/** The latest dry run of a campaign, null before the first; it is read again until it ends. `start` begins another. */
export function useDryRun(campaign: string) {
  const project = useProjectId();
  const queries = useQueryClient();
  const queryKey = ['campaigns', project, campaign, 'dry-run'];
  const latest = useQuery({
    queryKey,
    enabled: campaign !== '',
    refetchInterval: ({ state }) => (state.data?.state === 'RUNNING' ? 1_000 : false),
    queryFn: async (): Promise<DryRun | null> => {
      const path = { id: campaign, n: 'latest' };
      try {
        return (await answer(api.GET('/campaigns/{id}/dry-runs/{n}', { params: { path } }))).data;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
  const start = useMutation({
    mutationFn: (sample: 'all' | number) =>
      answer(api.POST('/campaigns/{id}/dry-run', { params: { path: { id: campaign } }, body: { sample } })),
    onSuccess: async ({ data }) => {
      // An answer from before the start would hide the new run.
      await queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, data);
    },
  });
  return { latest, start };
}

/** The result of `useDryRun`. */
export type Checking = ReturnType<typeof useDryRun>;

/** Whether a campaign can be sent by a dry run: it is done, and the campaign is as it was then. */
export function isValid(run: DryRun | null | undefined): run is DryRun & { fingerprint: string } {
  return run?.state === 'DONE' && run.fingerprint !== null && run.changed.length === 0 && !isExpired(run);
}

function isExpired({ expiresAt }: DryRun): boolean {
  return Date.parse(expiresAt) <= Date.now();
}

/**
 * Starts a dry run where the campaign has none by which it can be sent, once for each of its revisions. Waits for the number of
 * `recipients`, undefined while it is not known: a large audience is rendered as a sample.
 */
export function useFirstCheck(
  { latest: { data: run }, start: { mutate } }: Checking,
  { recipients, revision, disabled }: { recipients: number | undefined; revision: number | null; disabled: boolean },
): void {
  const checked = useRef<number | null>(null);
  const isNeeded = run === null || (run !== undefined && run.state !== 'RUNNING' && !isValid(run));
  const isWanted = isNeeded && !disabled && recipients !== undefined && recipients > 0;
  useEffect(() => {
    if (!isWanted || checked.current === revision) return;
    checked.current = revision;
    mutate(sampleOf(recipients));
  }, [isWanted, recipients, revision, mutate]);
}
