import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import type { Tone } from '../../ui/Badge.tsx';

/** A campaign with its segment and what holds it. */
export type Campaign = components['schemas']['GetCampaignResult']['data'];

/** A campaign as its own calls answer it, without its segment, canary and approval. */
export type SavedCampaign = Omit<Campaign, 'segment' | 'held' | 'hold' | 'quietHours' | 'canary' | 'approval'>;

/** One campaign of a project. */
export const campaignQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ['campaigns', project, id],
    queryFn: async () => (await answer(api.GET('/campaigns/{id}', { params: { path: { id } } }))).data,
  });

/** How the states of a campaign are named and meant. */
export const states: Record<Campaign['status'], { name: string; tone?: Tone }> = {
  DRAFT: { name: 'Draft' },
  SCHEDULED: { name: 'Scheduled', tone: 'info' },
  SENDING: { name: 'Sending', tone: 'info' },
  SENT: { name: 'Sent', tone: 'good' },
  CANCELLED: { name: 'Canceled', tone: 'warn' },
};

/**
 * The state of a campaign as its badge says it. A campaign that waits for the provider, or only for the end of quiet hours, is on hold, though
 * its status stays SENDING.
 */
export function campaignState({
  status,
  pausedAt,
  hold,
  held,
  quietHours,
}: Pick<Campaign, 'status' | 'pausedAt' | 'hold' | 'held' | 'quietHours'>) {
  if (pausedAt) return { name: 'Paused', tone: 'warn' } as const;
  return hold || (held && quietHours) ? ({ name: 'On hold', tone: 'warn' } as const) : states[status];
}

/** Whether the campaign can still be changed. */
export function isOpen({ status }: Pick<Campaign, 'status'>): boolean {
  return status === 'DRAFT' || status === 'SCHEDULED';
}
