import { answer, api } from '../../../api/client.ts';
import { starterGraph } from '../graph/starters/graph.ts';
import type { Starter } from '../graph/starters/parts.ts';
import { putGraph, type Workflow } from '../workflow.ts';

/** The answers to the questions about a new workflow. */
export interface NewWorkflowFacts {
  name: string;
  triggerType: Workflow['triggerType'];
  /** For the trigger EVENT. */
  eventName?: string;
  allowReentry: boolean;
}

/**
 * Creates a workflow from a starter, disabled, with a template for each of its emails where a sender is given. What was created
 * before a failure is deleted again.
 * @throws ApiError of the call that failed
 */
export async function createFromStarter(
  starter: Starter,
  facts: NewWorkflowFacts,
  sender: string | null,
): Promise<{ id: string }> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const templates = new Map<string, string>();
    // One after the other, so that a template whose sender is refused is the only call.
    if (sender !== null)
      for (const [key, { name, subject, document }] of Object.entries(starter.emails)) {
        const body = { name, subject, document: { ...document }, from: sender, type: 'MARKETING' as const };
        const { id } = await answer(api.POST('/templates', { body }));
        undo.push(() => answer(api.DELETE('/templates/{id}', { params: { path: { id } } })));
        templates.set(key, id);
      }
    const { id } = await answer(api.POST('/workflows', { body: facts }));
    const path = { id };
    // The workflow goes first, because a template that a step sends cannot be deleted.
    undo.push(() => answer(api.DELETE('/workflows/{id}', { params: { path } })));
    const { revision, steps } = await answer(api.GET('/workflows/{id}', { params: { path } }));
    const trigger = steps.find(({ type }) => type === 'TRIGGER');
    if (trigger === undefined) throw new Error('The new workflow has no trigger.');
    await putGraph(id, revision, starterGraph(starter, trigger, templates), {});
    return { id };
  } catch (problem) {
    for (const step of undo.reverse()) await step().catch(() => undefined);
    throw problem;
  }
}
