import { expect } from 'vitest';

/** A project of a service that runs as processes, and what its client knows. */
export interface Project {
  projectId: string;
  secretKey: string;
  sender: string;
}

/** Calls an API with the key of a project. Every request has to be answered, whichever release answers it. */
export async function call(port: number, { secretKey }: Project, method: string, path: string, body?: object) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${secretKey}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? null : JSON.parse(text);
}

/** A workflow with a delay, a mail, a wait for an event and another mail. */
export async function aWorkflow(port: number, project: Project): Promise<void> {
  const ask = (method: string, path: string, body: object) => call(port, project, method, path, body);
  const template = (name: string) =>
    ask('POST', '/templates', {
      ...{ name, subject: name, body: '<p>Hi</p>', from: project.sender, type: 'TRANSACTIONAL' },
    });
  const { id } = await ask('POST', '/workflows', { name: 'Onboarding', eventName: 'signup' });
  let [{ id: last }] = (await call(port, project, 'GET', `/workflows/${id}`)).steps;
  const next = async (type: string, config: object, waitOutcome: string | null = null) => {
    const fields = { type, name: type, position: { x: 0, y: 0 }, config, autoConnect: false };
    const step = await ask('POST', `/workflows/${id}/steps`, fields);
    await ask('POST', `/workflows/${id}/transitions`, { fromStepId: last, toStepId: step.id, waitOutcome });
    last = step.id;
  };
  await next('DELAY', { amount: 0.1, unit: 'minutes' });
  await next('SEND_EMAIL', { templateId: (await template('After the delay')).id });
  await next('WAIT_FOR_EVENT', { eventName: 'paid', timeout: 86_400 });
  await next('SEND_EMAIL', { templateId: (await template('After the event')).id }, 'EVENT');
  await ask('PATCH', `/workflows/${id}`, { enabled: true });
}
