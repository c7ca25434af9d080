import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  type Enrolment,
  type EnrolmentDeps,
  type EnrolmentPlace,
  enrolAudience,
} from '../src/automations/enrollment/audience.ts';
import { type MigrationDeps, type MigrationShare, moveContacts } from '../src/automations/migrating/job.ts';
import { cancelMigrationRow } from '../src/automations/migrating/queries.ts';
import { cancelByOperator } from '../src/automations/runs/actions.ts';
import { type AdvanceDeps, advance } from '../src/automations/runtime/advance.ts';
import { type Directive, isShown, type ShownWait } from '../src/automations/runtime/directive.ts';
import { callWebhook, type WebhookStepDeps } from '../src/automations/runtime/webhook-step.ts';
import {
  type SegmentSweepDeps,
  type SweepPage,
  type SweepReport,
  settlePage,
  settleTouched,
} from '../src/segments/sweep.ts';
import { alive } from './mail.ts';

/** The short database steps of runs, as workflows call them. */
export type AutomationActivities = ReturnType<typeof automationActivities>;

/** Calls of webhooks, on a queue of their own, so that slow receivers delay nothing else. */
export type WebhookActivities = ReturnType<typeof webhookActivities>;

const heartbeatMs = 5_000;

/** Builds the activities that move runs on. Each may be repeated. */
export function automationActivities(deps: AdvanceDeps) {
  return {
    /**
     * Moves a run on as far as it goes without waiting (see `src/automations/runtime/advance.ts`). `shown` is the wait that the search attributes of
     * the start show; the answer then says whether the run waits for that.
     */
    async advanceRun(runId: string, seq: number | null, shown?: ShownWait): Promise<Directive & { isShown?: boolean }> {
      const directive = await advance(deps, runId, seq);
      return shown === undefined ? directive : { ...directive, isShown: isShown(directive, shown) };
    },

    /** Cancels the row of a run whose execution was cancelled. */
    cancelRun: (runId: string): Promise<void> => cancelByOperator(deps.db, runId),
  };
}

/** Builds the activities that call webhooks. */
export function webhookActivities(deps: WebhookStepDeps) {
  return {
    /** Calls the webhook of a step execution; what came of it stands in the row afterwards. Fails for another attempt. */
    async callWebhook(stepRunId: string): Promise<void> {
      const call = await alive(heartbeatMs, () => callWebhook(deps, stepRunId, cancellationSignal()));
      if (call.outcome === 'again')
        throw ApplicationFailure.create({ message: call.reason, type: 'WebhookAgain', nextRetryDelay: call.afterMs });
    },
  };
}

/** The activities of schedules, as workflows call them. */
export type EnrolmentActivities = ReturnType<typeof enrolmentActivities>;

/** Builds the activities of schedules. `stopping` aborts when the process begins to stop. */
export function enrolmentActivities(deps: EnrolmentDeps & { stopping: AbortSignal }) {
  return {
    /** Puts the audience of an automation among the pending enrollments; another attempt goes on where this one was. */
    enrolScheduledAudience(automationId: string, fireTime: string): Promise<Enrolment> {
      return alive(heartbeatMs, (note) => {
        const from = (activityInfo().heartbeatDetails ?? null) as EnrolmentPlace | null;
        note(from);
        return enrolAudience(deps, automationId, fireTime, {
          from,
          onPage(reached) {
            note(reached);
            heartbeat(reached);
          },
          checkStop() {
            cancellationSignal().throwIfAborted();
            if (deps.stopping.aborted) throw new Error('The worker stops; another one goes on');
          },
        });
      });
    },
  };
}

/** The activities that migrate contacts between versions, as workflows call them. */
export type MigrationActivities = ReturnType<typeof migrationActivities>;
// Long enough to be worth an activity, short enough that the Web UI shows progress.
const longestMs = 30_000;

/** Builds the activities of migrations. Each may be repeated: the row says where the work stands. */
export function migrationActivities(deps: MigrationDeps & { stopping: AbortSignal }) {
  return {
    /** Migrates contacts until none is left or its share of time is over. */
    movePeopleOfAutomation: (migrationId: string): Promise<MigrationShare> =>
      alive(heartbeatMs, (onChunk) => {
        const stop = AbortSignal.any([deps.stopping, cancellationSignal()]);
        return moveContacts(deps, migrationId, { stop, longestMs: longestMs, onChunk });
      }),

    /** Ends a migration whose execution was cancelled; contacts that it has migrated stay migrated. */
    async cancelMigration(migrationId: string): Promise<void> {
      await cancelMigrationRow(deps.db, migrationId);
    },
  };
}

/** The activities of segments, as workflows call them. */
export type SegmentActivities = ReturnType<typeof segmentActivities>;
// A page is one activity: long enough to be worth it, short enough that the Web UI shows how far a sweep is.
const pageShareMs = 20_000;

/** Builds the activities that keep segments up to date. Safe to repeat: what is settled is found settled. */
export function segmentActivities(deps: SegmentSweepDeps) {
  return {
    /** Computes the tracked segments of a project that changes of data have touched. */
    settleTouchedSegments: (projectId: string): Promise<SweepReport> =>
      alive(heartbeatMs, () => settleTouched(deps, projectId)),

    /** Brings the segments of the projects after one up to date; `since` is the ISO instant at which the sweep began. */
    settleSegmentsPage: (after: string | null, since: string): Promise<SweepPage> =>
      alive(heartbeatMs, () => settlePage(deps, after, new Date(since), pageShareMs)),
  };
}
