import { expect } from 'vitest';
import type { Answer, TestApi, TestProject } from './api.ts';

/** What is uploaded: a file, and how its part is called and described. */
export interface Upload {
  content: string | Uint8Array;
  name?: string;
  type?: string;
  part?: string;
}

/** Uploads a CSV as a browser does. */
export async function upload(api: TestApi, project: TestProject, file: Upload): Promise<Answer> {
  const form = new FormData();
  form.set('comment', 'parts of other names are passed over');
  form.set(
    file.part ?? 'file',
    new Blob([file.content as string | Uint8Array<ArrayBuffer>], { type: file.type ?? 'text/csv' }),
    file.name ?? 'list.csv',
  );
  const answer = await fetch(`${api.url}/contacts/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${project.secretKey}` },
    body: form,
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** Uploads a CSV that is expected to be taken, and answers the id of its job. */
export async function uploaded(api: TestApi, project: TestProject, content: string | Uint8Array): Promise<string> {
  const answer = await upload(api, project, { content });
  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({ message: expect.any(String), jobId: expect.stringMatching(/^import-[0-9a-f-]{36}$/) });
  return answer.body.jobId;
}

/** Polls a job until it is over, and tells where it stands when that takes ten minutes. Its progress must never fall. */
export async function jobDone(api: TestApi, project: TestProject, path: string): Promise<Answer['body']> {
  const giveUpAt = Date.now() + 600_000;
  const seen: number[] = [];
  for (;;) {
    const { status, body } = await api.call(project.secretKey, 'GET', path);
    expect(status).toBe(200);
    seen.push(body.progress);
    if (body.state === 'completed' || body.state === 'failed') {
      expect(seen).toEqual(seen.toSorted((one, other) => one - other));
      return body;
    }
    expect(body.result).toBeNull();
    if (Date.now() > giveUpAt) throw new Error(`${path} goes on after ten minutes: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
