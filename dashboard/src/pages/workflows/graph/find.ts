import { stepNames, summary } from './graph.ts';
import type { Step } from './shapes.ts';

type Findable = Pick<Step, 'id' | 'type' | 'name' | 'config'> & Partial<Step>;

/** The steps with every word of a text in their name, type, summary or note, from the top of the canvas to its bottom; all for no words. */
export function findSteps<Found extends Findable & Pick<Step, 'position'>>(
  steps: readonly Found[],
  text: string,
): Found[] {
  const words = text.trim().toLowerCase().split(/\s+/);
  return steps
    .filter((step) => {
      const said = `${step.name} ${stepNames[step.type]} ${summary(step)} ${step.note ?? ''}`.toLowerCase();
      return words.every((word) => said.includes(word));
    })
    .sort(({ position: one }, { position: other }) => one.y - other.y || one.x - other.x);
}
