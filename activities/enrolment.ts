import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { type Enrolment, type EnrolmentDeps, type EnrolmentPlace, enrolAudience } from '../src/automations/index.ts';
import { alive } from './alive.ts';

/** The activities of schedules, as workflows call them. */
export type EnrolmentActivities = ReturnType<typeof enrolmentActivities>;

const heartbeatMs = 5_000;

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
