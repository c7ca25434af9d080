import { answer, api } from '../../api/client.ts';
import { sameJson, transitionText } from './graph.ts';
import type { Workflow } from './workflow.ts';

/** A graph as it was at a moment. */
export type Snapshot = Pick<Workflow, 'steps' | 'transitions'>;

/**
 * Leads a graph back to a snapshot by the calls that anybody could make: what is too much is removed, what is missing is
 * made again, what differs is changed. Steps that are made again have new ids: answers old id → new id.
 * @throws ApiError at the first call that the service refuses; what was done until then stays
 */
export async function restore(id: string, from: Snapshot, to: Snapshot): Promise<Map<string, string>> {
  const renamed = new Map<string, string>();
  const now = (stepId: string) => renamed.get(stepId) ?? stepId;
  const wanted = new Set(to.transitions.map(transitionText));
  const kept = new Set<string>();
  for (const way of from.transitions) {
    if (wanted.has(transitionText(way))) kept.add(transitionText(way));
    else
      await answer(
        api.DELETE('/workflows/{id}/transitions/{transitionId}', { params: { path: { id, transitionId: way.id } } }),
      );
  }
  const target = new Map(to.steps.map((step) => [step.id, step]));
  // Their ways are gone, so that each of them goes alone.
  for (const { id: stepId } of from.steps)
    if (!target.has(stepId))
      await answer(api.DELETE('/workflows/{id}/steps/{stepId}', { params: { path: { id, stepId } } }));
  const present = new Map(from.steps.map((step) => [step.id, step]));
  for (const { id: stepId, type, name, position, config, templateId } of to.steps) {
    const before = present.get(stepId);
    if (before === undefined) {
      const body = { type, name, position, config, templateId, autoConnect: false };
      const made = await answer(api.POST('/workflows/{id}/steps', { params: { path: { id } }, body }));
      renamed.set(stepId, made.id);
      continue;
    }
    // Name and config of the TRIGGER follow the settings of the workflow.
    const hasOtherContent = !sameJson(before.config, config) || before.templateId !== templateId;
    const change = {
      ...(sameJson(before.position, position) ? {} : { position }),
      ...(type === 'TRIGGER' || before.name === name ? {} : { name }),
      ...(type === 'TRIGGER' || !hasOtherContent ? {} : { config, templateId }),
    };
    if (Object.keys(change).length > 0)
      await answer(api.PATCH('/workflows/{id}/steps/{stepId}', { params: { path: { id, stepId } }, body: change }));
  }
  for (const way of to.transitions)
    if (!kept.has(transitionText(way)))
      await answer(
        api.POST('/workflows/{id}/transitions', {
          params: { path: { id } },
          body: {
            fromStepId: now(way.fromStepId),
            toStepId: now(way.toStepId),
            branch: way.branch,
            waitOutcome: way.waitOutcome,
            priority: way.priority,
          },
        }),
      );
  return renamed;
}

/** The same snapshots with the new ids of steps that were made again. */
export function withNewIds(history: readonly Snapshot[], renamed: ReadonlyMap<string, string>): Snapshot[] {
  if (renamed.size === 0) return [...history];
  let text = JSON.stringify(history);
  for (const [old, fresh] of renamed) text = text.replaceAll(old, fresh);
  return JSON.parse(text) as Snapshot[];
}
