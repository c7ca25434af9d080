import { setTimeout as sleep } from 'node:timers/promises';
import { cancelled, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type {
  AutomationActivities,
  EnrolmentActivities,
  MigrationActivities,
  SegmentActivities,
  WebhookActivities,
} from '../../../activities/automation.ts';
import type { CampaignActivities } from '../../../activities/campaign.ts';
import type { ErasureActivities, WipeActivities } from '../../../activities/erasure.ts';
import type { JobActivities, WebhookFeedActivities } from '../../../activities/jobs.ts';
import type { EmailActivities, SystemMailActivities } from '../../../activities/mail.ts';
import type { DomainActivities, SweepActivities, UsageActivities } from '../../../activities/sweeps.ts';
import type { Launch } from '../../../temporal/commands.ts';

type Activities = AutomationActivities &
  WebhookActivities &
  CampaignActivities &
  DomainActivities &
  EmailActivities &
  EnrolmentActivities &
  ErasureActivities &
  JobActivities &
  MigrationActivities &
  SegmentActivities &
  SweepActivities &
  SystemMailActivities &
  WebhookFeedActivities &
  WipeActivities &
  UsageActivities;

/** What a case may do to its execution while that runs. */
export interface Hand {
  wake(): Promise<void>;
  /** Tells a run to look again; see `resume` of the workflow `automation`. */
  resume(seq: number): Promise<void>;
  /** Asks it to cancel, as the Web UI does. */
  cancel(): Promise<void>;
}

/** What one call of an activity answers, or a function that works it out and may fail. */
export type Answer<T> = T | ((hand: Hand) => Promise<T>);

/** What each activity answers, call by call, failed attempts included. */
export type Script = {
  readonly [Name in keyof Activities]?: readonly Answer<Awaited<ReturnType<Activities[Name]>>>[];
};

/** One way through a workflow. */
export interface ReplayCase {
  /** `<workflow>-<case>`: the name of its file. */
  name: string;
  launch: Launch;
  /** Whether a wake starts it, as with deliveries. */
  byWake?: true;
  answers: Script;
  /** What happens as soon as its first timer runs. */
  atTimer?: (hand: Hand) => Promise<void>;
  /** How its last run ends. RUNNING: it is saved while its first timer runs. */
  ends: 'COMPLETED' | 'CANCELLED' | 'FAILED' | 'RUNNING';
  /** How many runs it takes, when it continues as new. */
  runs?: number;
}

/** A failed attempt; it is repeated soon. */
export async function failed(): Promise<never> {
  throw ApplicationFailure.create({ message: 'The database is away', nextRetryDelay: '20 ms' });
}

/** A failure after which no attempt follows. */
export async function failedForGood(): Promise<never> {
  throw ApplicationFailure.nonRetryable('The file cannot be read');
}

/** Cancels the execution and answers once the activity has heard of it, as work does that finishes what it holds. */
export function cancelling<T>(answer: T): (hand: Hand) => Promise<T> {
  return async (hand) => {
    await hand.cancel();
    return heardOfCancel(answer)();
  };
}

/** Answers once the activity has been told to cancel. */
export function heardOfCancel<T>(answer: T): () => Promise<T> {
  return async () => {
    // Only the answer to a heartbeat tells.
    const beating = setInterval(heartbeat, 50);
    try {
      return await cancelled();
    } catch {
      return answer;
    } finally {
      clearInterval(beating);
    }
  };
}

/** Answers after some milliseconds. */
export function later<T>(ms: number, answer: T): () => Promise<T> {
  return () => sleep(ms, answer);
}

/** Wakes the execution, gives the wake the time to arrive, and answers. */
export function waking<T>(answer: T): (hand: Hand) => Promise<T> {
  return async (hand) => {
    await hand.wake();
    return sleep(100, answer);
  };
}
