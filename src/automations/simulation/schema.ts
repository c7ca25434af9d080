import * as v from 'valibot';
import { contactIdsUpTo, jobStates } from '../../imports/schema.ts';
import { CursorParameter } from '../../lib/pages.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import {
  choice,
  choiceParameter,
  coded,
  codedAt,
  field,
  GivenInstant,
  GivenUuid,
  Instant,
  Integer,
  limitParameter,
  nameSchemas,
  parameter,
  Uuid,
  wholeNumber,
} from '../../lib/validation/fields.ts';
import { stepTypes } from '../graph/step-configs.ts';
import { PutGraph } from '../publishing/schema.ts';

/** Most contacts of a simulation, and most days of the time that its contacts come from. */
export const mostSimulated = 10_000;
const longestRangeMs = 366 * dayMs;

/** Reads a horizon such as `90d` in milliseconds; null for what is none, or beyond 365 days. */
export function horizonMs(text: string): number | null {
  const [, amount, unit] = /^([1-9]\d{0,3})([hd])$/.exec(text) ?? [];
  const length = Number(amount) * (unit === 'h' ? hourMs : dayMs);
  return length <= 365 * dayMs ? length : null;
}

const Over = v.pipe(
  v.object({
    event: field(
      'Contacts to whom the event that starts the workflow happened within this time, at most 366 days. With `compareWith: "actual"`, those whose executions started within it.',
      v.optional(
        v.object({
          from: field('Start of the time.', GivenInstant),
          until: field('End of the time.', GivenInstant),
        }),
      ),
    ),
    segmentId: field('Current members of this segment.', v.optional(GivenUuid)),
    contactIds: field('These contacts, 1 to 10,000.', v.optional(contactIdsUpTo(mostSimulated))),
    at: field(
      'When members of a segment, or contacts by ID, enter. When absent: one horizon ago if recorded events answer waits, else now.',
      v.optional(GivenInstant),
    ),
  }),
  codedAt(
    'custom',
    'event',
    ({ event, segmentId, contactIds }) => [event, segmentId, contactIds].filter(Boolean).length === 1,
    'give exactly one of "event", "segmentId" and "contactIds"',
  ),
  codedAt(
    'too_big',
    'event',
    ({ event }) => {
      const length = event ? Date.parse(event.until) - Date.parse(event.from) : 1;
      return length > 0 && length <= longestRangeMs;
    },
    'must end after it starts, at most 366 days later',
  ),
  codedAt('custom', 'at', ({ event, at }) => !event || !at, 'goes with "segmentId" and "contactIds" only'),
);

/** `POST /workflows/{id}/simulations`. */
export const SimulateWorkflow = v.pipe(
  v.object({
    graph: field(
      'Graph to simulate, as in `PUT /workflows/{id}/graph`, which need not be saved.',
      v.optional(v.pick(PutGraph, ['steps', 'transitions', 'exits', 'goal'])),
    ),
    version: field(
      'Version to simulate. Without `graph` and `version` it is the saved graph; with `compareWith: "actual"` the version that each execution had.',
      v.optional(wholeNumber(1, 999_999_999)),
    ),
    over: field('The contacts that go through the workflow.', Over),
    most: field(
      'Most contacts, or executions, to simulate, up to 10,000.',
      v.optional(wholeNumber(1, mostSimulated), mostSimulated),
    ),
    horizon: field(
      'How long each contact is followed, in `h` or `d`, up to 365 days.',
      v.optional(
        v.pipe(
          v.string('must be a text such as "90d"'),
          coded<string>(
            'invalid_string',
            (text) => horizonMs(text) !== null,
            'must be a number of h or d up to 365 days, for example "90d"',
          ),
        ),
        '90d',
      ),
    ),
    futures: field(
      '`recorded`: events that were recorded after a contact entered answer waits and end executions. `none`: no event comes, and waits time out.',
      v.optional(choice(['recorded', 'none']), 'recorded'),
    ),
    compareWith: field(
      'Number of a version that the same contacts go through as well, or `actual` for their executions that have ended; nothing when absent.',
      v.optional(
        v.union([v.literal('actual'), wholeNumber(1, 999_999_999)], 'must be "actual" or a number of a version'),
      ),
    ),
  }),
  codedAt('custom', 'version', ({ graph, version }) => !graph || !version, 'give one of "graph" and "version" only'),
);
export type SimulateWorkflow = v.InferOutput<typeof SimulateWorkflow>;

/** How a simulated execution ends. */
export const simulatedEnds = ['COMPLETED', 'EXITED', 'FAILED', 'INSIDE'] as const;
/** Who gets an email: here only, there only, or here at another time than there. */
export const mailDifferences = ['onlyHere', 'onlyThere', 'earlier', 'later'] as const;
export const collisionKinds = ['within24Hours', 'afterGoal', 'quietHours'] as const;
/** Why the history does not tell everything about a contact. */
export const simulationLimits = ['history', 'entries', 'events', 'future', 'settings'] as const;
const agreements = ['agrees', 'differs', 'notComparable'] as const;

const Counted = (of: string) => field(of, v.record(v.string(), Integer));

const StepCounts = v.object({
  stepId: field('ID of the step; for a new step, its name in the request.', v.string()),
  name: field('Name of the step.', v.string()),
  type: field('Type of the step.', v.picklist(stepTypes)),
  reached: field('Executions that reached the step.', Integer),
  inside: field('Executions that were still at the step when their time was over.', Integer),
  failed: field('Executions that failed at the step.', Integer),
  paths: field(
    'Executions by the path that they took from the step: a branch, `EVENT` or `TIMEOUT`, `next`, `success`, or `exit:<id>`.',
    v.record(v.string(), Integer),
  ),
});

const MailDay = v.object({
  day: field('Day, in the time zone of `mails`.', v.string()),
  count: field('Emails of the day.', Integer),
  byHour: field('Emails of each hour of the day, from 0 to 23.', v.array(Integer)),
});

const Collision = (of: string) =>
  field(
    of,
    v.object({
      mails: field('Number of emails.', Integer),
      contacts: field('Number of contacts.', Integer),
    }),
  );

/** What executions come to. */
export const SimulationCounts = v.object({
  executions: field('Executions that started.', Integer),
  refused: Counted('Entries that the rules of the workflow refused, by reason.'),
  steps: field('Every step of the graph.', v.array(StepCounts)),
  neverReached: field('IDs of steps that no contact reached.', v.array(v.string())),
  ends: field(
    'Executions by how they ended; `INSIDE` when their time was over before.',
    v.object({
      COMPLETED: field('Reached the end of their path.', Integer),
      EXITED: field('Left early.', Integer),
      FAILED: field('Failed at a step.', Integer),
      INSIDE: field('Were inside when their time was over.', Integer),
    }),
  ),
  reasons: Counted('Executions by why they ended, of those that exited or failed.'),
  failures: field(
    'Steps that failed, most frequent first; up to 50.',
    v.array(
      v.object({
        stepId: field('ID of the step.', v.string()),
        error: field('Why it failed.', v.string()),
        count: field('Number of executions.', Integer),
      }),
    ),
  ),
  mails: field(
    'Emails of the workflow.',
    v.object({
      count: field('Emails that are sent.', Integer),
      skipped: Counted('Emails that are not sent, by reason.'),
      timeZone: field('Time zone of days and hours: that of the project, or UTC.', v.string()),
      byDay: field('Emails by the day and hour at which they leave.', v.array(MailDay)),
    }),
  ),
  collisions: field(
    'Emails of the workflow that may annoy their contact.',
    v.object({
      within24Hours: Collision('Emails within 24 hours after another one of this workflow.'),
      afterGoal: Collision('Emails to contacts who had reached the goal in this execution.'),
      quietHours: Collision('Emails that wait for the end of quiet hours.'),
    }),
  ),
  goal: field(
    'The goal within the time that is simulated; null if the graph has none.',
    v.nullable(
      v.object({
        met: field('Executions that reached it.', Integer),
        metOnEntry: field('Executions whose contact met its condition on entry; they are not counted.', Integer),
      }),
    ),
  ),
});
export type SimulationCounts = v.InferOutput<typeof SimulationCounts>;

const Difference = v.object({
  contactId: field('ID of the contact.', Uuid),
  executionId: field('ID of the execution.', Uuid),
  stepId: field('ID of the step at which they part; null for the end.', v.nullable(Uuid)),
  differs: field('What differs, such as `outcome` or `scheduledFor`.', v.array(v.string())),
});
export type Difference = v.InferOutput<typeof Difference>;

const Agreement = v.object({
  agree: field('Executions that the simulation repeats step by step, at the same instants.', Integer),
  compared: field('Executions that can be compared.', Integer),
  notComparable: Counted('Executions that cannot be compared, by reason.'),
  differences: field('The first executions that differ, up to 20.', v.array(Difference)),
});

const DifferingMail = v.object({
  templateId: field('ID of the template; null for a step without one.', v.nullable(Uuid)),
  same: field('Contacts who get it in both, at the same time.', Integer),
  onlyHere: field('Contacts who get it only here.', Integer),
  onlyThere: field('Contacts who get it only there.', Integer),
  earlier: field('Contacts who get it earlier here.', Integer),
  later: field('Contacts who get it later here.', Integer),
});
export type DifferingMail = v.InferOutput<typeof DifferingMail>;

const SimulationResult = v.object({
  contacts: field('Contacts, or executions, that were simulated.', Integer),
  more: field('Whether there are more than `most`.', v.boolean()),
  gone: field('Contacts that were deleted, or did not exist when they would have entered.', Integer),
  ...SimulationCounts.entries,
  comparison: field(
    'The other side of `compareWith`; null without.',
    v.nullable(
      v.object({
        with: field('Number of the version, or `actual`.', v.union([v.literal('actual'), Integer])),
        counts: field('What the executions there come to.', SimulationCounts),
        mails: field('Contacts by what differs, for each email.', v.array(DifferingMail)),
        agreement: field(
          'Whether executions of the same version do what was recorded; null unless the comparison is with `actual`.',
          v.nullable(Agreement),
        ),
      }),
    ),
  ),
  unknown: field(
    'What the simulation does not know.',
    v.array(
      v.object({
        code: field(
          '`history`: the contact as of then is older than its history. `entries`, `events`: more entries or events than are followed. `future`: the execution goes on after now, where no event is known. `settings`: the project was changed since.',
          v.picklist(simulationLimits),
        ),
        contacts: field('Number of contacts it applies to.', Integer),
      }),
    ),
  ),
});
export type SimulationResult = v.InferOutput<typeof SimulationResult>;

/** `GET /workflows/{id}/simulations/{jobId}`. */
export const SimulationBody = v.object({
  id: field('ID of the simulation.', v.string()),
  workflowId: field('ID of the workflow.', Uuid),
  state: field(
    'State of the job; `completed`, `failed` and `canceled` are final.',
    v.picklist([...jobStates, 'canceled']),
  ),
  progress: field('Progress in percent, from 0 to 100.', Integer),
  createdAt: field('Time of the request.', Instant),
  at: field(
    'When members of a segment, or contacts by ID, enter; send it as `over.at` to repeat the simulation. Null for `over.event`.',
    v.nullable(Instant),
  ),
  failedReason: field('Why the job failed as a whole; null unless its state is `failed`.', v.nullable(v.string())),
  result: field('What was simulated; null until it is completed.', v.nullable(SimulationResult)),
});
export type SimulationBody = v.InferOutput<typeof SimulationBody>;

/** `GET /workflows/{id}/simulations/{jobId}/contacts`. */
export const ListSimulated = v.object({
  limit: limitParameter(50, 200),
  cursor: CursorParameter,
  stepId: parameter('Contacts who reach this step.'),
  path: parameter('Contacts who take this path from the step `stepId`.'),
  end: choiceParameter('Contacts whose execution ends so.', simulatedEnds),
  mail: choiceParameter('Contacts for whom an email differs so.', mailDifferences),
  collision: choiceParameter('Contacts with such an email.', collisionKinds),
  agreement: choiceParameter(
    'Executions that agree with what was recorded, differ, or cannot be compared.',
    agreements,
  ),
});
export type ListSimulated = v.InferOutput<typeof ListSimulated>;

const SimulatedExecution = v.object({
  enteredAt: field('When the contact enters.', Instant),
  end: field('How the execution ends; `INSIDE` when its time is over before.', v.picklist(simulatedEnds)),
  reason: field('Why it exits or fails; null otherwise.', v.nullable(v.string())),
  endsAt: field('When it ends, or its time is over.', Instant),
  stepId: field('ID of the last step.', v.nullable(v.string())),
  mails: field(
    'Emails that are sent, up to 50.',
    v.array(
      v.object({
        stepId: field('ID of the step.', v.string()),
        templateId: field('ID of the template; null without one.', v.nullable(Uuid)),
        at: field('When the email leaves.', Instant),
      }),
    ),
  ),
});
export type SimulatedExecution = v.InferOutput<typeof SimulatedExecution>;

/** A page of the contacts of a simulation. */
export const SimulatedPage = v.object({
  data: field(
    'Contacts, in the order in which they were simulated.',
    v.array(
      v.object({
        contactId: field('ID of the contact.', Uuid),
        email: field('Email address of the contact; null when it was deleted since.', v.nullable(v.string())),
        name: field('Name of the contact, from its data; null without one.', v.nullable(v.string())),
        executionId: field('ID of the execution that it is compared with; null otherwise.', v.nullable(Uuid)),
        executions: field('Executions of the contact here, up to 10.', v.array(SimulatedExecution)),
        compared: field(
          'Executions of the contact there, up to 10; null without `compareWith`.',
          v.nullable(v.array(SimulatedExecution)),
        ),
      }),
    ),
  ),
  cursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
});
export type SimulatedPage = v.InferOutput<typeof SimulatedPage>;

nameSchemas({
  WorkflowSimulation: SimulationBody,
  WorkflowSimulationResult: SimulationResult,
  WorkflowSimulationCounts: SimulationCounts,
  SimulatedContacts: SimulatedPage,
  SimulatedExecution,
});
