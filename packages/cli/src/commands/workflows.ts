import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Body, type Fernpost, FernpostError, type Reply } from '@fernpost/sdk';
import { Command } from 'commander';
import { clientOf } from '../settings.ts';
import { isJson, plain, print, UsageError } from '../terminal.ts';

type Graph = Pick<Body<'replaceWorkflowGraph'>, 'steps' | 'transitions' | 'exits' | 'goal'>;

/** A workflow as a file. */
interface WorkflowFile extends Graph {
  id: string;
  name: string;
  /** The state of the workflow that the file was made from; `push` refuses when somebody else has changed it since. */
  revision: number;
}

type Trigger = Pick<Body<'createWorkflow'>, 'triggerType' | 'eventName' | 'triggerConfig' | 'allowReentry'>;

/** A file as somebody writes it: without an `id` it is a workflow that `push` creates, and a step may name its `template`. */
interface WrittenFile extends Omit<WorkflowFile, 'id' | 'revision' | 'steps'>, Trigger {
  id?: string;
  revision?: number;
  steps: (Graph['steps'][number] & { template?: string })[];
}

/** `fernpost workflows pull|plan|push|rollout|pause|resume|goal|retry|enroll|simulate`. */
export function workflowCommands(): Command {
  return new Command('workflows')
    .description('keep the graph of a workflow in a file, retry what failed, and enroll contacts of the past')
    .addCommand(
      new Command('pull')
        .description('write the graph of a workflow into a file')
        .argument('<id>')
        .option('--out <file>', 'the file; workflow.json when absent', 'workflow.json')
        .action(async (id: string, { out }: { out: string }, command: Command) => {
          const file = fileOf(await clientOf(command).workflows.get(id));
          write(out, file);
          print(command, { file: out, revision: file.revision }, `${file.name} is in ${out}.`);
        }),
    )
    .addCommand(
      new Command('plan')
        .description('show what a push would change; changes nothing')
        .argument('<file>')
        .action(async (path: string, _, command: Command) => {
          const client = clientOf(command);
          const written = read(path);
          if (written.id === undefined) throw new UsageError(`${path} has no id yet: "push" creates the workflow.`);
          const file = await withTemplates(written, client);
          const plan = await client.workflows.replaceGraph(written.id, { ...graphOf(file), dryRun: true });
          if (!plan.dryRun) throw new Error('The service published the graph although it was asked not to.');
          print(command, plan, describe(plan));
          if (plan.issues.length > 0)
            throw new Error(`${plan.issues.length} problems would keep it from being enabled.`);
        }),
    )
    .addCommand(pushCommand())
    .addCommand(rolloutCommand())
    .addCommand(
      new Command('pause')
        .description('hold contacts where they are, and queue those who would enter')
        .argument('<id>')
        .action(async (id: string, _, command: Command) => {
          const workflow = await clientOf(command).workflows.pause(id);
          print(command, workflow, `${workflow.name} is paused.`);
        }),
    )
    .addCommand(
      new Command('resume')
        .description('let the contacts of a paused workflow continue')
        .argument('<id>')
        .option('--spread <minutes>', 'evenly over this many minutes', '0')
        .action(async (id: string, { spread }: { spread: string }, command: Command) => {
          const workflow = await clientOf(command).workflows.resume(id, { spreadMinutes: Number(spread) });
          print(command, workflow, `${workflow.name} continues.`);
        }),
    )
    .addCommand(
      new Command('goal')
        .description('show how many of those who have entered have reached the goal')
        .argument('<id>')
        .option('--by <group>', 'also by version, or by branch of its splits')
        .action(goal),
    )
    .addCommand(retryCommand())
    .addCommand(
      new Command('enroll')
        .description('enroll contacts of the past: of a segment, that match a condition, or that an event happened to')
        .argument('<id>')
        .option('--segment <id>', 'the members of this segment')
        .option('--condition <file>', 'contacts that match the condition in this JSON file')
        .option('--event <name>', 'contacts that this event happened to; with --since')
        .option('--since <instant>', 'only events since, such as 2026-12-24T18:00:00Z')
        .option('--where <file>', 'with --event: only events whose data passes the tests in this JSON file')
        .option('--most-per-minute <count>', 'most contacts that enter within a minute', Number)
        .option('--dry-run', 'only show how many would enter')
        .action(enroll),
    )
    .addCommand(simulateCommand());
}

function simulateCommand(): Command {
  return new Command('simulate')
    .description('show what a workflow would have done to contacts; sends, calls and changes nothing')
    .argument('<id>')
    .option('--file <file>', 'the graph of this file; the saved one when absent')
    .option('--version <number>', 'a version of the workflow', Number)
    .option('--from <instant>', 'contacts that entered since, such as 2026-11-01T00:00:00Z; with --until')
    .option('--until <instant>', 'and until')
    .option('--segment <id>', 'the members of this segment')
    .option('--contacts <ids>', 'contacts by their ids, separated by commas')
    .option('--most <count>', 'most contacts', Number)
    .option('--horizon <time>', 'how long each contact is followed, such as 90d or 12h')
    .option('--no-events', 'no event comes after a contact entered')
    .option('--compare <version>', 'a version, or "actual" for what was recorded')
    .option('--cancel <simulation>', 'cancel a running simulation, by its ID')
    .action(simulate);
}

function retryCommand(): Command {
  return new Command('retry')
    .description('retry failed executions at the step that failed, in the current version')
    .argument('<id>')
    .argument('[executions...]', 'ids; every failed execution when absent')
    .option('--step <id>', 'only those that failed at this step')
    .option('--since <instant>', 'only those that failed since, such as 2026-12-24T18:00:00Z')
    .option('--error <text>', 'only those whose reason contains this text')
    .option('--from <id>', 'the step to resume at, instead of the one that failed')
    .option('--own-version', 'in the version that they failed in')
    .option('--send-again', 'send emails again that they have sent before')
    .option('--dry-run', 'only show how many would resume')
    .action(retry);
}

function pushCommand(): Command {
  return new Command('push')
    .description(
      'publish the graph of a file; contacts already in the workflow stay in their version. A file without an id creates the workflow, disabled',
    )
    .argument('<file>')
    .option('--force', 'even if someone else has changed the workflow since')
    .option('--rollout <percent>', 'only to this share of new contacts at first', Number)
    .option('--days <days>', 'with --rollout: days until all new contacts get it; 7 when absent', Number)
    .option('--stop-failures <percent>', 'with --rollout: highest share of executions that may fail', Number)
    .option('--stop-unsubscribes <percent>', 'with --rollout: highest share of contacts who may unsubscribe', Number)
    .action(push);
}

function rolloutCommand(): Command {
  return new Command('rollout')
    .description('show the rollout of a new version, change its share, give it to all new contacts, or take it back')
    .argument('<id>')
    .option('--percent <percent>', 'the share of new contacts who get the new version', Number)
    .option('--finish', 'give it to all new contacts')
    .option('--back', 'give new contacts the previous version again')
    .action(rollout);
}

interface PushOptions {
  force?: true;
  rollout?: number;
  days?: number;
  stopFailures?: number;
  stopUnsubscribes?: number;
}

async function push(path: string, { force, ...options }: PushOptions, command: Command): Promise<void> {
  const rollout = rolloutOf(options);
  const client = clientOf(command);
  const { workflows } = client;
  const file = await created(path, await withTemplates(read(path), client), client);
  const publish = (dryRun: boolean, more: { rollout?: Rollout } = {}) =>
    workflows
      .replaceGraph(file.id, { ...graphOf(file), ...more, dryRun }, force ? {} : { ifMatch: `"${file.revision}"` })
      .catch((error: unknown) => {
        if (!(error instanceof FernpostError && error.status === 412)) throw error;
        throw new Error(`${error.message}. Pull it into another file and merge, or push with --force.`);
      });
  const plan = await publish(true);
  if (plan.changes.steps.length + plan.changes.transitions.length === 0)
    return print(command, plan, 'No changes: nothing was published.');
  const done = await publish(false, rollout === null ? {} : { rollout });
  if (done.dryRun) throw new Error('The service changed nothing although it was asked to publish.');
  write(path, fileOf(done.workflow));
  const to = rollout === null ? '' : ` for ${rollout.percent}% of new contacts`;
  print(
    command,
    done,
    `${describe(done)}\nPublished as revision ${done.workflow.revision}${to}. ${path} has the new IDs.`,
  );
}

/** Creates the workflow of a file that has no id yet, and writes the id into the file: whatever fails then, the next push goes on with it. */
async function created(path: string, file: WrittenFile, { workflows }: Fernpost): Promise<WorkflowFile> {
  const { id, revision, name, triggerType, eventName, triggerConfig, allowReentry, ...graph } = file;
  if (id !== undefined) return { ...graph, id, name, revision: revision ?? 0 };
  const made = await workflows.create({
    name,
    ...(triggerType === undefined ? {} : { triggerType }),
    ...(eventName === undefined ? {} : { eventName }),
    ...(triggerConfig === undefined ? {} : { triggerConfig }),
    ...(allowReentry === undefined ? {} : { allowReentry }),
  });
  const { steps, revision: first } = await workflows.get(made.id);
  const trigger = steps.find(({ type }) => type === 'TRIGGER')?.id ?? '';
  const written = graph.steps.find(({ type }) => type === 'TRIGGER')?.id;
  const real = (step: string) => (step === written ? trigger : step);
  const started = {
    id: made.id,
    name,
    revision: first,
    ...graph,
    steps: graph.steps.map((step) => ({ ...step, id: real(step.id) })),
    transitions: graph.transitions.map((way) => ({
      ...way,
      fromStepId: real(way.fromStepId),
      toStepId: real(way.toStepId),
    })),
  };
  write(path, started);
  return started;
}

/** The file with the ids of the templates that its steps name. */
async function withTemplates(file: WrittenFile, { templates }: Fernpost): Promise<WrittenFile> {
  const named = new Set(file.steps.flatMap(({ template }) => template ?? []));
  if (named.size === 0) return file;
  const ids = new Map<string, string>();
  for await (const { id, name } of templates.list({ pageSize: 100 })) if (named.has(name)) ids.set(name, id);
  const missing = [...named].filter((name) => !ids.has(name));
  if (missing.length > 0)
    throw new UsageError(
      `No template is named ${missing.map((name) => `"${name}"`).join(', ')}: "templates push" makes them.`,
    );
  return {
    ...file,
    steps: file.steps.map(({ template, ...step }) => {
      const templateId = template === undefined ? undefined : ids.get(template);
      return templateId === undefined ? step : { ...step, config: step.config ?? {}, templateId };
    }) as WrittenFile['steps'],
  };
}

async function goal(id: string, { by }: { by?: string }, command: Command): Promise<void> {
  if (by !== undefined && by !== 'version' && by !== 'branch') throw new UsageError('--by is version or branch.');
  const { workflows } = clientOf(command);
  const figures = await workflows.getGoal(id, by === undefined ? {} : { by });
  const groups = figures.groups.map(
    ({ version, stepId, branch, ...group }) =>
      `${version === null ? `Branch ${plain(branch ?? '')} of ${stepId}` : `Version ${version}`}: ${resultOf(group)}`,
  );
  print(command, figures, [resultOf(figures), ...groups].join('\n'));
}

function resultOf(figures: Omit<Reply<'getWorkflowGoal'>, 'goal' | 'groups'>): string {
  const { entered, met, metOnEntry, open, rate, interval, medianSeconds } = figures;
  const percent = (share: number) => share.toFixed(1);
  return [
    `${met} of ${entered} reached the goal`,
    rate === null || interval === null
      ? ''
      : `: ${percent(rate)} % (${percent(interval.low)}–${percent(interval.high)} %)`,
    medianSeconds === null ? '' : `, median ${percent(medianSeconds / 86_400)} days`,
    `. ${open} still have time, ${metOnEntry} met it on entry.`,
  ].join('');
}

type Rollout = NonNullable<Body<'replaceWorkflowGraph'>['rollout']>;

function rolloutOf({ rollout, days, stopFailures, stopUnsubscribes }: PushOptions): Rollout | null {
  const hasLimits = stopFailures !== undefined || stopUnsubscribes !== undefined;
  if (rollout === undefined) {
    if (hasLimits || days !== undefined)
      throw new UsageError('--days, --stop-failures and --stop-unsubscribes go with --rollout.');
    return null;
  }
  const stopIf = { failureRate: stopFailures ?? null, unsubscribeRate: stopUnsubscribes ?? null };
  return { percent: rollout, ...(days === undefined ? {} : { days }), ...(hasLimits ? { stopIf } : {}) };
}

async function rollout(
  id: string,
  { percent, finish, back }: { percent?: number; finish?: true; back?: true },
  command: Command,
): Promise<void> {
  if ([percent, finish, back].filter((option) => option !== undefined).length > 1)
    throw new UsageError('Give one of --percent, --finish and --back.');
  const { workflows } = clientOf(command);
  if (percent !== undefined) await workflows.updateRollout(id, { percent });
  if (finish) await workflows.finishRollout(id);
  if (back) await workflows.takeRolloutBack(id);
  const report = await workflows.getRollout(id);
  const rate = (count: number, share: number | null) => `${count}${share === null ? '' : ` (${share}%)`}`;
  const lines = report.versions.map(
    ({ version, isNew, entered, completed, completedRate, exited, exitedRate, failed, failureRate, ...rest }) =>
      `Version ${version}${isNew ? ', new' : ''}: ${entered} entered, ${rate(completed, completedRate)} completed, ${rate(exited, exitedRate)} exited, ${rate(failed, failureRate)} failed, ${rate(rest.unsubscribed, rest.unsubscribeRate)} unsubscribed${rest.goal === null ? '' : `\n  ${resultOf(rest.goal)}`}`,
  );
  const { state, version } = report;
  const head = `Version ${version} ${state === 'RUNNING' ? `gets ${report.percent}% of new contacts until ${report.endsAt}` : rolloutEnds[state]}.`;
  print(command, report, [head, ...lines].join('\n'));
}

const rolloutEnds = {
  FINISHED: 'gets all new contacts',
  BACK: 'was taken back',
  STOPPED: 'was taken back because a limit was broken',
  REPLACED: 'was replaced by another graph',
} as const;

interface RetryOptions {
  step?: string;
  since?: string;
  error?: string;
  from?: string;
  ownVersion?: true;
  sendAgain?: true;
  dryRun?: true;
}

async function retry(id: string, executionIds: string[], options: RetryOptions, command: Command): Promise<void> {
  const { step: stepId, since, error: errorContains, from, ownVersion, sendAgain = false, dryRun = false } = options;
  const { workflows } = clientOf(command);
  const body = {
    ...(executionIds.length === 0 ? {} : { executionIds }),
    where: defined({ stepId, since, errorContains }),
    ...defined({ from }),
    version: ownVersion ? ('own' as const) : ('newest' as const),
    sendAgain,
  };
  const preview = await workflows.retryExecutions(id, { ...body, dryRun: true });
  if (!('steps' in preview)) throw new Error('The service retried executions although it was asked not to.');
  const places = preview.steps.map(
    ({ executions, stepName, failedSince, lastError }) =>
      `${executions} failed at "${stepName ?? 'unknown'}" since ${failedSince}: ${lastError ?? 'no reason'}`,
  );
  if (dryRun)
    return print(
      command,
      preview,
      [...places, `${preview.retried} would be retried, ${preview.skipped} skipped.`].join('\n'),
    );
  const total = { retried: 0, skipped: 0 };
  for (let more = true; more; ) {
    // Those that fail once more meanwhile are not retried again.
    const where = { ...body.where, before: preview.readAt };
    const done = await workflows.retryExecutions(id, { ...body, where });
    total.retried += done.retried;
    total.skipped += done.skipped;
    more = done.more && done.retried > 0;
  }
  print(command, total, `${total.retried} retried at the step that failed, ${total.skipped} skipped.`);
}

type Past = NonNullable<Body<'enrollContacts'>>;

interface EnrollOptions {
  segment?: string;
  condition?: string;
  event?: string;
  since?: string;
  where?: string;
  mostPerMinute?: number;
  dryRun?: true;
}

async function enroll(id: string, options: EnrollOptions, command: Command): Promise<void> {
  const { segment: segmentId, condition, event: name, since, where, mostPerMinute, dryRun = false } = options;
  if ([segmentId, condition, name].filter(Boolean).length !== 1)
    throw new UsageError('Give one of --segment, --condition and --event.');
  if ((name === undefined) !== (since === undefined)) throw new UsageError('--event and --since go together.');
  if (where !== undefined && name === undefined) throw new UsageError('--where goes with --event.');
  const tests = where === undefined ? {} : { where: readJson(where) as NonNullable<Past['event']>['where'] };
  const body = {
    ...(segmentId === undefined ? {} : { segmentId }),
    ...(condition === undefined ? {} : { condition: readJson(condition) as NonNullable<Past['condition']> }),
    ...(name === undefined || since === undefined ? {} : { event: { name, since, ...tests } }),
    ...(mostPerMinute === undefined ? {} : { mostPerMinute }),
    dryRun,
  };
  const done = await clientOf(command).workflows.enroll(id, body);
  if ('jobId' in done)
    return print(command, done, `${done.jobId} enrolls them: "fernpost jobs list" shows its progress.`);
  const reasons = Object.entries(done.reasons).map(([reason, contacts]) => `${contacts} would not: ${plain(reason)}`);
  print(command, done, [`${done.enters} of ${done.contacts} would enter.`, ...reasons].join('\n'));
}

interface SimulateOptions {
  file?: string;
  version?: number;
  from?: string;
  until?: string;
  segment?: string;
  contacts?: string;
  most?: number;
  horizon?: string;
  events: boolean;
  compare?: string;
  cancel?: string;
}

async function simulate(id: string, options: SimulateOptions, command: Command): Promise<void> {
  if (options.cancel !== undefined) {
    const ended = await clientOf(command).workflows.cancelSimulation(id, options.cancel);
    return print(command, ended, `${ended.id} is ${ended.state}.`);
  }
  const { file, version, from, until, segment: segmentId, contacts, most, horizon, events, compare } = options;
  if ((from === undefined) !== (until === undefined)) throw new UsageError('--from and --until go together.');
  if ([from, segmentId, contacts].filter(Boolean).length !== 1)
    throw new UsageError('Give one of --from with --until, --segment and --contacts.');
  const client = clientOf(command);
  const graph = file === undefined ? undefined : graphOf(await withTemplates(read(file), client));
  const { jobId } = await client.workflows.simulate(id, {
    ...(graph && { graph }),
    ...(version === undefined ? {} : { version }),
    over: {
      ...(from && until && { event: { from, until } }),
      ...(segmentId && { segmentId }),
      ...(contacts && { contactIds: contacts.split(',') }),
    },
    ...(most === undefined ? {} : { most }),
    ...(horizon && { horizon }),
    futures: events ? 'recorded' : 'none',
    ...(compare && { compareWith: compare === 'actual' ? compare : Number(compare) }),
  });
  if (!isJson(command)) console.error(`Queued as ${jobId}. To cancel it: --cancel ${jobId}`);
  for (;;) {
    const simulation = await client.workflows.getSimulation(id, jobId);
    if (simulation.state === 'failed')
      throw new Error(`The simulation failed: ${plain(simulation.failedReason ?? '')}`);
    if (simulation.state === 'canceled') throw new Error('The simulation was canceled.');
    if (simulation.result !== null) return print(command, simulation, summaryOf(simulation.result));
    await sleep(1_000);
  }
}

function summaryOf(result: NonNullable<Reply<'getWorkflowSimulation'>['result']>): string {
  const { contacts, executions, ends, mails, steps, collisions, comparison, unknown, neverReached } = result;
  const never = steps.filter(({ stepId }) => neverReached.includes(stepId)).map(({ name }) => plain(name));
  const agreement = comparison?.agreement;
  return [
    `${executions} executions of ${contacts} contacts: ${ends.COMPLETED} completed, ${ends.EXITED} exited, ${ends.FAILED} failed, ${ends.INSIDE} still inside.`,
    `${mails.count} emails; within 24 hours of another: ${collisions.within24Hours.mails}, after the goal: ${collisions.afterGoal.mails}, held by quiet hours: ${collisions.quietHours.mails}.`,
    ...steps.map(({ name, reached, paths }) => {
      const taken = Object.entries(paths).map(([path, count]) => `${plain(path)} ${count}`);
      return `  ${plain(name)}: ${reached}${taken.length > 0 ? ` (${taken.join(', ')})` : ''}`;
    }),
    ...(never.length > 0 ? [`Never reached: ${never.join(', ')}.`] : []),
    ...(comparison
      ? [`There: ${comparison.counts.executions} executions, ${comparison.counts.mails.count} emails.`]
      : []),
    ...(agreement ? [`${agreement.agree} of ${agreement.compared} executions agree.`] : []),
    ...unknown.map(({ code, contacts: count }) => `Unknown for ${count} contacts: ${code}.`),
  ].join('\n');
}

/** Leaves out what is undefined. */
function defined<Options extends Record<string, string | undefined>>(options: Options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Options]?: string;
  };
}

/** The graph without what the service adds, so that a file changes only when the graph does. */
function fileOf(workflow: Reply<'getWorkflow'>): WorkflowFile {
  return {
    id: workflow.id,
    name: workflow.name,
    revision: workflow.revision,
    exits: workflow.exits,
    goal: workflow.goal,
    steps: workflow.steps.map(({ id, type, name, position, config, templateId, note }) => ({
      id,
      type,
      name,
      position,
      config,
      ...(templateId === null ? {} : { templateId }),
      ...(note === null ? {} : { note }),
    })) as Graph['steps'],
    transitions: workflow.transitions.map(({ fromStepId, toStepId, branch, waitOutcome }) => ({
      fromStepId,
      toStepId,
      ...(branch === null ? {} : { branch }),
      ...(waitOutcome === null ? {} : { waitOutcome }),
    })) as Graph['transitions'],
  };
}

// A file that an earlier version wrote has neither exits nor a goal, and leaves them.
function graphOf({ steps, transitions, exits, goal }: Graph): Graph {
  return {
    steps,
    transitions,
    ...(exits === undefined ? {} : { exits }),
    ...(goal === undefined ? {} : { goal }),
  };
}

const signs = { added: '+', removed: '-', changed: '~', moved: '~' } as const;

function describe({ changes, ...rest }: Reply<'replaceWorkflowGraph'>): string {
  const lines = [
    ...changes.steps.map(({ change, type, name, fields }) =>
      `${signs[change]} ${type} ${plain(name)} ${change === 'changed' ? `(${fields.join(', ')})` : ''}`.trimEnd(),
    ),
    ...changes.transitions.map(({ change, fromStepId, toStepId, branch, waitOutcome }) =>
      `${signs[change]} ${fromStepId} → ${toStepId} ${branch ?? waitOutcome ?? ''}`.trimEnd(),
    ),
    ...('issues' in rest ? rest.issues.map(({ message }) => `! ${plain(message)}`) : []),
  ];
  return lines.length === 0 ? 'No changes.' : lines.join('\n');
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function read(path: string): WrittenFile {
  const file = readJson(path) as Partial<WrittenFile>;
  const isKnown = typeof file.id === 'string' || (file.id === undefined && typeof file.name === 'string');
  if (!isKnown || !Array.isArray(file.steps) || !Array.isArray(file.transitions))
    throw new UsageError(`${path} is no workflow: "fernpost workflows pull" writes one.`);
  return file as WrittenFile;
}

function write(path: string, file: WorkflowFile): void {
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`);
}
