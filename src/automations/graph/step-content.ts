import { AppError, invalidField, notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Database } from '../../store/sql.ts';
import type { StepRow } from '../rows.ts';
import { holdTemplates } from './queries.ts';
import { webhookSyntaxError } from './webhook-config.ts';

/** The note of a step as a write leaves it: one that the write does not name stays. */
export function noteOf({ note }: { note?: string | null | undefined }, before: string | null): string | null {
  return note === undefined ? before : note || null;
}

/** The parts of a step that say what it does. */
export type Content = Pick<StepRow, 'config' | 'templateId'>;

interface GivenContent {
  config?: Record<string, unknown> | undefined;
  templateId?: string | null | undefined;
}

/** `stepContent` that also checks the template. @throws 404 for one that is none of the project, 400 as `stepContent` */
export async function checkedContent(
  tx: Database,
  projectId: string,
  type: StepRow['type'],
  given: GivenContent,
  before: Content,
): Promise<Content> {
  const content = stepContent(type, given, before, (templateId) => {
    if (!isUuid(templateId)) throw notFound('template', templateId);
  });
  const { templateId } = content;
  if (templateId !== null && templateId !== before.templateId)
    if ((await holdTemplates(tx, projectId, [templateId])).size === 0) throw notFound('template', templateId);
  return content;
}

/**
 * Config and template of a step as a write leaves them. Of a SEND_EMAIL both name the same template; `templateId` wins.
 * @throws 400 for a webhook's template that does not parse, 422 for a template's id that is none
 */
export function stepContent(
  type: StepRow['type'],
  given: GivenContent,
  before: Content,
  checkId: (templateId: string) => void = refuseMalformed,
): Content {
  const config = given.config ?? before.config;
  const named = type === 'SEND_EMAIL' ? templateNamed(config) : undefined;
  const templateId = given.templateId === undefined ? (given.config && named) || before.templateId : given.templateId;
  if (templateId !== null && templateId !== before.templateId) checkId(templateId);
  if (type === 'WEBHOOK') refuseSyntax(config);
  if (type !== 'SEND_EMAIL') return { config, templateId };
  const { templateId: _, ...rest } = config;
  return { config: templateId === null ? rest : { ...rest, templateId }, templateId };
}

function refuseMalformed(templateId: string): void {
  if (!isUuid(templateId)) throw invalidField('templateId', 'must be a UUID', 'invalid_string');
}

function templateNamed({ templateId }: Record<string, unknown>): string | undefined {
  return typeof templateId === 'string' && templateId !== '' ? templateId : undefined;
}

function refuseSyntax(config: Record<string, unknown>): void {
  const problem = webhookSyntaxError(config);
  if (problem === null) return;
  const { line, column, message } = problem;
  const field = `config.${problem.field}`;
  throw new AppError(
    400,
    'VALIDATION_ERROR',
    `"${field}" does not parse at line ${line}, column ${column}: ${message}`,
    { details: { field, line, column } },
  );
}
