import type { DomainPage } from '../../../src/domains/sweep.ts';
import { newId } from '../../../src/lib/ids.ts';
import { emptyReport } from '../../../src/segments/sweep.ts';
import { type Json, type WorkflowType, workflowId } from '../../../temporal/commands.ts';
import { cancelling, failed, type ReplayCase, type Script } from './case.ts';

const report = { ...emptyReport(), computed: 2, counted: 1, entered: 40, left: 3 };
const page = { after: newId(), report };
const lastPage = { after: null, report };
const projectId = newId();

/** Ways through what schedules start, and through the compute of a project's segments. */
export const sweepCases: readonly ReplayCase[] = [
  sweep('reconcile', 'done', { runChecks: [{ mail: 0, campaigns: 1 }] }),
  sweep('reconcile', 'attempts-failed', { runChecks: [failed, failed, { mail: 0, campaigns: 0 }] }),
  sweep('reconcile', 'failed', { runChecks: [failed, failed, failed] }, { ends: 'FAILED' }),
  sweep('retention', 'done', { removeOldRows: [{ outbox: 812 }] }),
  sweep('retention', 'failed', { removeOldRows: [failed, failed, failed] }, { ends: 'FAILED' }),
  sweep('domainSweep', 'one-page', { removeDomainLeftovers: [1], checkDomainsPage: [domains()] }),
  sweep('domainSweep', 'provider-stopped-looking', {
    removeDomainLeftovers: [0],
    checkDomainsPage: [domains({ more: true, stopped: [newId()] }), domains({ stopped: [newId()] })],
    restartDomainCheck: [failed, undefined, failed, failed, failed, failed, failed],
  }),
  sweep(
    'domainSweep',
    'continued',
    {
      removeDomainLeftovers: [0],
      checkDomainsPage: [...Array.from({ length: 20 }, () => domains({ more: true })), domains()],
    },
    { runs: 2 },
  ),
  sweep('domainSweep', 'failed', { removeDomainLeftovers: [failed, failed, failed] }, { ends: 'FAILED' }),
  sweep('usageSweep', 'done', { tellOfUsage: [2], reportUsage: [failed, 812] }),
  sweep('usageSweep', 'failed', { tellOfUsage: [0], reportUsage: [failed, failed, failed] }, { ends: 'FAILED' }),
  sweep(
    'migrateAutomation',
    'several-shares',
    {
      movePeopleOfAutomation: [{ state: 'unfinished', people: 5_000 }, failed, { state: 'completed', people: 812 }],
    },
    { input: { migrationId: newId() } },
  ),
  sweep(
    'migrateAutomation',
    'cancelled',
    {
      movePeopleOfAutomation: [cancelling({ state: 'unfinished' as const, people: 500 })],
      cancelMigration: [undefined],
    },
    { input: { migrationId: newId() }, ends: 'CANCELLED' },
  ),
  sweep(
    'enrolScheduled',
    'done',
    { enrolScheduledAudience: [failed, { state: 'enrolled', enrolled: 40 }] },
    { input: { automationId: newId() } },
  ),
  sweep('segmentSweep', 'one-page', { settleSegmentsPage: [lastPage] }),
  sweep('segmentSweep', 'several-pages', { settleSegmentsPage: [page, page, lastPage] }),
  sweep(
    'segmentSweep',
    'continued',
    { settleSegmentsPage: [...Array.from({ length: 20 }, () => page), lastPage] },
    { runs: 2 },
  ),
  sweep('segmentCompute', 'done', { settleTouchedSegments: [report] }, { input: { projectId } }),
  sweep(
    'segmentCompute',
    'pausing-after-a-failure',
    { settleTouchedSegments: [{ ...report, failed: 1 }] },
    { input: { projectId }, id: workflowId.segments(projectId), ends: 'RUNNING' },
  ),
];

function domains(changes: Partial<DomainPage> = {}): DomainPage {
  return { checked: 100, failed: 1, more: false, stopped: [], ...changes };
}

function sweep(
  workflow: WorkflowType,
  name: string,
  answers: Script,
  {
    input = null,
    id = `${workflow}/${newId()}`,
    ends = 'COMPLETED',
    ...rest
  }: { input?: Json; id?: string; ends?: ReplayCase['ends']; runs?: number } = {},
): ReplayCase {
  return { name: `${workflow}-${name}`, launch: { workflow, id, input }, answers, ends, ...rest };
}
