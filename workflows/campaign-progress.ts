import * as wf from '@temporalio/workflow';
import { CampaignStatus } from '../src/lib/enums.ts';
import { searchAttribute } from '../temporal/commands.ts';

/** How far a campaign is, for the Temporal Web UI. `sent` and `failed` are as of the last report. */
export interface CampaignProgress {
  phase:
    | 'starting'
    | 'scheduled'
    | 'sending'
    | 'held'
    | 'paused'
    | 'finishing'
    | 'cancelling'
    | 'sent'
    | 'cancelled'
    | 'draft'
    | 'gone';
  recipients: number;
  sent: number;
  /** Not sent on purpose. */
  skipped: number;
  failed: number;
  lanes: number;
  detail: string;
}

/** How a send ended. */
export type CampaignSendResult = Pick<CampaignProgress, 'recipients' | 'sent' | 'skipped' | 'failed'> & {
  status: CampaignStatus | 'GONE';
};

type Counts = Pick<CampaignProgress, 'recipients' | 'sent' | 'skipped' | 'failed'>;

/** Shows how far an execution is: its query, its details in the Web UI, and its search attributes. */
export class ProgressDisplay {
  readonly progress: CampaignProgress = {
    phase: 'starting',
    recipients: 0,
    sent: 0,
    skipped: 0,
    failed: 0,
    lanes: 0,
    detail: '',
  };
  // The values of the search attributes, where they differ from those that the start of the execution has set.
  #state: string | null = null;
  #due = wf.workflowInfo().typedSearchAttributes.get(searchAttribute.DueAt)?.toISOString() ?? null;

  /** Takes over the counts of the campaign's row. */
  count({ recipients, sent, skipped, failed }: Counts): void {
    // Histories from before it was counted apart have no `skipped`.
    Object.assign(this.progress, { recipients, sent, skipped: skipped ?? 0, failed });
  }

  show(phase: CampaignProgress['phase'], detail = ''): void {
    Object.assign(this.progress, { phase, detail });
    const { recipients, sent, skipped, failed } = this.progress;
    const others = `${skipped === 0 ? '' : `, ${grouped(skipped)} skipped`}${failed === 0 ? '' : `, ${grouped(failed)} failed`}`;
    const counts = `${grouped(sent)} of ${grouped(recipients)} handed over${others}`;
    wf.setCurrentDetails(`**${phase}** · ${counts}${detail === '' ? '' : `\n\n${detail}`}`);
    if (phase === 'held' || phase === 'paused' || phase === 'cancelling') this.#mark(phase.toUpperCase());
    else if (phase === 'sending' && this.#state !== null) this.#mark(CampaignStatus.SENDING);
  }

  showScheduled(dueAt: string | null): void {
    // The start has set it.
    this.#state ??= CampaignStatus.SCHEDULED;
    this.show('scheduled', `due at ${dueAt}`);
    if (this.#due !== dueAt && dueAt !== null)
      wf.upsertSearchAttributes([{ key: searchAttribute.DueAt, value: new Date(dueAt) }]);
    this.#due = dueAt;
  }

  showFrozen(recipients: number): void {
    this.progress.recipients = recipients;
    if (wf.patched('recipients-once-frozen'))
      wf.upsertSearchAttributes([{ key: searchAttribute.Recipients, value: recipients }]);
  }

  end(phase: CampaignProgress['phase'], status: CampaignSendResult['status']): CampaignSendResult {
    this.show(phase);
    this.#mark(status);
    const { recipients, sent, skipped, failed } = this.progress;
    if (status !== 'GONE')
      wf.upsertSearchAttributes([
        { key: searchAttribute.Recipients, value: recipients },
        { key: searchAttribute.Failed, value: failed },
      ]);
    return { status, recipients, sent, skipped, failed };
  }

  // Each change is an event and a write to the visibility store. The start has set SENDING.
  #mark(value: string): void {
    if (value === (this.#state ?? CampaignStatus.SENDING)) return;
    this.#state = value;
    wf.upsertSearchAttributes([{ key: searchAttribute.State, value }]);
  }
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
