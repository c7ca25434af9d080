import { type Call, client, until } from './client.ts';
import type { Stack } from './stack.ts';

const rowsPerFile = 50_000;
const cities = ['Husum', 'Vlissingen', 'Gdańsk', 'Sète', 'Cádiz', 'Burgas'];
const plans = ['free', 'member', 'patron'];

/** Imports the audience and makes the campaign. */
export async function setUp(
  { project, sandboxUrl }: Stack,
  recipients: number,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<{ api: Call; sandbox: Call; campaignId: string }> {
  const api = client(project.baseUrl, project.secretKey);
  await importAudience(api, recipients, stop);
  say(`${recipients.toLocaleString('en-US')} contacts are imported`);
  const { body } = await api('POST', '/campaigns', campaignOf(project.sender));
  return { api, sandbox: client(sandboxUrl, null), campaignId: body.data.id };
}

/** Imports the audience as a marketer would, by CSV. Rejects when an import does not take every row. */
async function importAudience(api: Call, recipients: number, signal: AbortSignal): Promise<void> {
  for (let from = 0; from < recipients; from += rowsPerFile) {
    const count = Math.min(rowsPerFile, recipients - from);
    const rows = Array.from({ length: count }, (_, place) => {
      const number = from + place;
      return `${addressOf(number)},Person ${number},${cities[number % cities.length]},${plans[number % plans.length]}`;
    });
    const form = new FormData();
    form.append(
      'file',
      new Blob([`email,firstName,city,plan\n${rows.join('\n')}\n`], { type: 'text/csv' }),
      'people.csv',
    );
    const queued = await api('POST', '/contacts/import', form);
    if (queued.status !== 202) throw new Error(`the import was refused: ${JSON.stringify(queued.body)}`);
    const job = await until(async () => {
      const { body } = await api('GET', `/contacts/import/${queued.body.jobId}`);
      return body.state === 'completed' || body.state === 'failed' ? body : null;
    }, signal);
    if (job.result?.createdCount !== count)
      throw new Error(`the import did not take ${count} rows: ${JSON.stringify(job)}`);
  }
}

/** The address of a recipient by their number. */
export function addressOf(number: number): string {
  return `person-${String(number).padStart(6, '0')}@birdwatch.example`;
}

/** The campaign: personal in subject and body, with a link, so that rendering has something to do. */
function campaignOf(sender: string) {
  return {
    name: 'Drill: the autumn letter',
    subject: 'The migration has begun, {{firstName}}',
    body: `<h1>Dear {{firstName}},</h1>
<p>the autumn migration has begun, and from {{city}} you can see the first flocks in the early morning.</p>
{% if plan == 'patron' %}<p>As a patron you have a place in the first boat.</p>{% endif %}
<p><a href="https://birdwatch.example/walks">Choose a walk</a></p>`,
    from: sender,
    type: 'MARKETING',
    audienceType: 'ALL',
  };
}
