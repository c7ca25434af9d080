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
  const [, step, rest] = /^(Step ".*?": )(.*)$/s.exec(message) ?? [];
  if (step !== undefined && rest !== undefined) return step + fieldSentence({ field, message: rest });
  const own = message.startsWith(`${name} `) ? message.slice(name.length + 1) : message;
  if (/password/i.test(name) && own.startsWith('must have at least ')) {
    return `Passwords have ${own.slice('must have '.length)}.`;
  }
  const label = labels[name] ?? worded(name);
  if (predicate.test(own) && label !== '') return sentence(`${label} ${own}`);
  return sentence(own);
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
