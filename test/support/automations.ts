import type { Answer, TestApi, TestProject } from './api.ts';

/** What a test does with automations, through the API of one project. */
export interface AutomationHand {
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** `call` that fails the test when the status is no 2xx; answers the body. */
  done(method: string, path: string, body?: unknown): Promise<Answer['body']>;
  /** Creates an automation; answers its id and that of its TRIGGER step. */
  automation(body?: Record<string, unknown>): Promise<{ id: string; trigger: string }>;
  /** Adds a step, connected to the newest open end unless the body says otherwise; answers its id. */
  step(id: string, type: string, config?: Record<string, unknown>, more?: Record<string, unknown>): Promise<string>;
  /** Connects two steps; answers the transition's id. */
  connect(id: string, fromStepId: string, toStepId: string, more?: Record<string, unknown>): Promise<string>;
  /** The graph as `name → name (branch or outcome)`, sorted. */
  ways(id: string): Promise<string[]>;
  contact(email: string, data?: Record<string, unknown>): Promise<string>;
  template(name?: string): Promise<string>;
  enable(id: string): Promise<void>;
}

/** The hand of a project. */
export function automationHand(api: TestApi, project: TestProject): AutomationHand {
  const call: AutomationHand['call'] = (method, path, body) => api.call(project.secretKey, method, path, body);
  const done: AutomationHand['done'] = async (method, path, body) => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    call,
    done,
    async automation(body = {}) {
      const { id } = await done('POST', '/workflows', { name: 'Onboarding', eventName: 'user.signup', ...body });
      const { steps } = await done('GET', `/workflows/${id}`);
      return { id, trigger: steps[0].id };
    },
    async step(id, type, config = {}, more = {}) {
      const body = { type, name: type, position: { x: 100, y: 200 }, config, ...more };
      return (await done('POST', `/workflows/${id}/steps`, body)).id;
    },
    async connect(id, fromStepId, toStepId, more = {}) {
      return (await done('POST', `/workflows/${id}/transitions`, { fromStepId, toStepId, ...more })).id;
    },
    async ways(id) {
      const { steps, transitions } = await done('GET', `/workflows/${id}`);
      const name = (stepId: string) => steps.find((step: { id: string }) => step.id === stepId)?.name;
      return transitions
        .map((way: { fromStepId: string; toStepId: string; branch: string | null; waitOutcome: string | null }) => {
          const condition = way.branch ?? way.waitOutcome;
          return `${name(way.fromStepId)} → ${name(way.toStepId)}${condition === null ? '' : ` (${condition})`}`;
        })
        .sort();
    },
    contact: async (email, data = {}) => (await done('POST', '/contacts', { email, data })).id,
    template: async (name = 'Welcome mail') =>
      (await done('POST', '/templates', { name, subject: 'Hi {{firstName}}', body: '<p>Hi</p>', from: project.sender }))
        .id,
    enable: async (id) => void (await done('PATCH', `/workflows/${id}`, { enabled: true })),
  };
}
