/** A field that the service refused, by its path in the request. */
export interface FieldProblem {
  field: string;
  message: string;
}

/*
 * The API names fields as programs do (`fromName`, `steps.0.config.url`). People read the label of the form instead, and what
 * to do. Conditions and workflows place their problems beside the part they are about; here is what is left.
 */
const labels: Record<string, string> = {
  fromName: 'From name',
  replyTo: 'Reply-to',
  newPassword: 'Password',
  audienceCondition: 'Conditions',
  segmentId: 'Segment',
  templateId: 'Template',
  eventName: 'Event',
  scheduledFor: 'Time',
  customEmail: 'Email address',
  url: 'URL',
  email: 'Email address',
  emails: 'Email addresses',
  triggerConfig: 'Trigger',
};

// How sentences of the API go on from the name of their field.
const predicate = /^(must|is|are|has|have|may|can|cannot|needs|fits|does) /;

/** A problem of a field as a sentence that begins with the field's label: `Name must not be empty.` */
export function fieldSentence({ field, message }: FieldProblem): string {
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? '';
  // Problems of a workflow name their step first.
  const [, step] = /^Step "(.*?)":? /s.exec(message) ?? [];
  if (step !== undefined) return `${step}: ${stepSentence({ field, message })}`;
  if (field === 'triggerConfig.eventName' && isMissing.test(message))
    return 'Choose the event that starts the workflow.';
  const own = message.startsWith(`${name} `) ? message.slice(name.length + 1) : message;
  if (/password/i.test(name) && own.startsWith('must have at least ')) {
    return `Passwords have ${own.slice('must have '.length)}.`;
  }
  const label = labels[name] ?? worded(name);
  if (predicate.test(own) && label !== '') return sentence(`${label} ${own}`);
  return sentence(own);
}

// What to do about a part of a step that is missing.
const missing: Record<string, string> = {
  templateId: 'Choose a template.',
  customEmail: 'Enter the address to send to.',
  amount: 'Enter how long to wait.',
  eventName: 'Choose the event to wait for.',
  field: 'Choose a field to compare.',
  operator: 'Choose how to compare.',
  branches: 'Add a branch.',
  url: 'Enter the URL to call.',
  config: 'Set a field, or subscribe or unsubscribe the contact.',
};
const isMissing =
  /^(?:\w+ )?(?:is required|needs a template|must (?:not be empty|have at least one branch|change at least one field))/;

// Problems of paths, which the API says of a step by its type.
const pathSentences: readonly [RegExp, string][] = [
  [/^is an EXIT: /, 'The workflow ends here. Remove the path that leads on.'],
  [/^is an? [A-Z_]+ and already leads to another step/, 'Only one path can lead on from here. Remove the others.'],
  [/^has no branch "/, 'A path belongs to a branch that was removed. Remove the path too.'],
  [/^has no timeout/, 'A path is for the timeout. Set a timeout, or remove the path.'],
  [/^leads back to itself/, 'A path leads back to this step. Remove it.'],
];

/** A problem of a workflow's step as a sentence that says what to do; the step is named around it. */
export function stepSentence({ field, message }: FieldProblem): string {
  const own = message.replace(/^Step ".*?":? /s, '');
  const name = field.split('.').findLast((part) => !/^\d+$/.test(part)) ?? '';
  const toDo = isMissing.test(own) ? missing[name] : pathSentences.find(([problem]) => problem.test(own))?.[1];
  return toDo ?? fieldSentence({ field, message: own });
}

/** Problems without those of a field that has one already: what else is wrong with an empty field says nothing. */
export function firstOfEach<Problem extends FieldProblem & { stepId: string | null }>(
  problems: readonly Problem[],
): Problem[] {
  const placeOf = ({ stepId, field, message }: Problem) =>
    `${stepId} ${field} ${field.startsWith('config') ? '' : message}`;
  const first = new Map<string, Problem>();
  for (const problem of problems) if (!first.has(placeOf(problem))) first.set(placeOf(problem), problem);
  return [...first.values()];
}

/** Rewrites a message of the API without its quoted paths: `"from" must be …` becomes `From must be …`. */
export function plainSentence(message: string): string {
  const [, field, rest] = /^"([\w.[\]-]+)" (?:is invalid: )?(.*)$/s.exec(message) ?? [];
  return field === undefined || rest === undefined ? sentence(message) : fieldSentence({ field, message: rest });
}

function worded(name: string): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** Whether a text is a whole email address, as far as a form has to know. */
export function isAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);
}
