import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { escapeHtml, htmlToText, StepLimitError } from '@fernpost/renderer';
import { parse } from 'csv-parse/sync';
import { hostileTemplates } from '../packages/renderer/test/hostile-templates.ts';
import { newId } from '../src/lib/ids.ts';
import { recipientLinks } from '../src/templates/content/links.ts';
import { prepareContent } from '../src/templates/content/prepare.ts';

const messages = Number(process.env.BENCH_MESSAGES ?? 20_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);

const data = (file: string) => readFileSync(fileURLToPath(new URL(`../test/data/${file}`, import.meta.url)), 'utf8');
const links = { pagesUrl: 'https://mail.example', apiUrl: 'https://mail.example', secret: 'a secret of the benchmark' };

interface Person {
  id: string;
  email: string;
  subscribed: boolean;
  data: Record<string, string>;
}

type Render = (person: Person, emailId: string) => { subject: string; html: string; text: string | null };

/**
 * Marketing messages a second of one core, from contact to subject, HTML with footer, text part and headers, beside a floor:
 * the same strings put together by hand, with values escaped and links signed, and nothing else.
 */
export function benchRender(): void {
  console.log(`\nRendering: ${messages} messages a round, ${rounds} rounds, processor time of one core`);
  const people = audience();
  for (const [name, body] of [
    ['welcome.html', data('templates/welcome.html').replaceAll('{{name}}', '{{First Name ?? there}}')],
    ['newsletter.html', data('templates/newsletter.html').replace('Hi there', 'Hi {{First Name ?? there}}')],
  ] as const) {
    const subject = 'News for {{Company ?? you}}';
    const ours = renderer(subject, body);
    const floor = byHand(subject, body, ours);
    for (const wire of [false, true]) {
      const floors: number[] = [];
      const results: number[] = [];
      for (let round = 0; round < rounds; round++) {
        floors.push(perSecond(floor, people, wire));
        results.push(perSecond(ours, people, wire));
      }
      const [low, mine] = [median(floors), median(results)];
      const what = `${name}${wire ? ', as JSON in UTF-8' : ''}`;
      console.log(`  ${what.padEnd(38)} ${round(mine)}/s   floor ${round(low)}/s   ratio ${(mine / low).toFixed(2)}`);
    }
  }
}

function audience(): Person[] {
  const rows = parse(data('audience.csv'), { bom: true, columns: true, skip_empty_lines: true }) as Record<
    string,
    string
  >[];
  return rows.map(({ 'Email Address': email = '', ...fields }) => ({
    id: newId(),
    email,
    subscribed: true,
    data: fields,
  }));
}

function renderer(subject: string, body: string): Render {
  const content = prepareContent(
    { subject, body, messageClass: 'MARKETING', projectName: 'Acme', language: 'en', escapeContactData: true },
    links,
  );
  return (contact, emailId) => content.renderFor({ contact, emailId, isCampaign: true });
}

// Learns the constant parts from messages rendered with marks for values, and puts messages together from them.
function byHand(subject: string, body: string, ours: Render): Render {
  const names = [
    ...new Set(
      [...`${subject}${body}`.matchAll(/\{\{\s*([\w ]+?)\s*(?:\?\?[^}]*)?\}\}/g)].map((match) => match[1] ?? ''),
    ),
  ];
  const marked = ours(
    {
      id: '\ue0ff',
      email: 'x',
      subscribed: true,
      data: Object.fromEntries(names.map((name, i) => [name, `\ue0f0${i}\ue0f1`])),
    },
    '\ue0fe',
  );
  const token = new RegExp(recipientLinks(links, '\ue0ff', null).manageUrl.split('t=')[1] ?? '', 'g');
  const cut = (text: string) => text.replace(token, '\ue0fd').split(/(\ue0f0\d+\ue0f1|\ue0ff|\ue0fe|\ue0fd)/);
  const parts = { subject: cut(marked.subject), html: cut(marked.html), text: cut(htmlToText(marked.html)) };
  const fallback: Record<string, string> = { 'First Name': 'there', Company: 'you' };
  return (person, emailId) => {
    const sign = recipientLinks(links, person.id, emailId).manageUrl.split('t=')[1] ?? '';
    const values = names.map((name) => person.data[name] || fallback[name] || '');
    const safe = values.map(escapeHtml);
    const join = (pieces: string[], filled: string[]) => {
      let out = '';
      for (let i = 0; i < pieces.length; i++) {
        const piece = pieces[i] ?? '';
        if (i % 2 === 0) out += piece;
        else if (piece === '\ue0ff') out += person.id;
        else if (piece === '\ue0fe') out += emailId;
        else if (piece === '\ue0fd') out += sign;
        else out += filled[Number(piece.slice(1, -1))];
      }
      return out;
    };
    return { subject: join(parts.subject, values), html: join(parts.html, safe), text: join(parts.text, values) };
  };
}

function perSecond(render: Render, people: Person[], wire: boolean): number {
  const emailId = newId();
  let written = 0;
  const begin = process.cpuUsage();
  for (let i = 0; i < messages; i++) {
    const person = people[i % people.length] as Person;
    const { subject, html, text } = render(person, emailId);
    written += wire
      ? Buffer.byteLength(JSON.stringify({ Subject: subject, HtmlBody: html, TextBody: text }))
      : subject.length + html.length + (text ?? '').length;
  }
  const used = process.cpuUsage(begin);
  if (written < messages) throw new Error('Nothing was rendered');
  return (messages * 1e6) / (used.user + used.system);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

function round(count: number): string {
  return Math.round(count).toLocaleString('en-US').padStart(9);
}

// Templates of doubling sizes that are hostile to a parser: processor time to prepare and render each once, to be seen in
// proportion. Beyond the limits of steps it is what finding that out costs.
function benchHostile(): void {
  const sizes = [1_000, 2_000, 4_000, 8_000, 50_000];
  console.log(
    `\nHostile templates, ms of processor time for ${sizes.map((n) => n.toLocaleString('en-US')).join(' · ')} repetitions`,
  );
  for (const [name, template] of Object.entries(hostileTemplates)) {
    const times = sizes.map((n) => {
      const body = template(n);
      const begin = process.cpuUsage();
      try {
        renderer('x', body)({ id: newId(), email: 'x', subscribed: true, data: { a: 'x' } }, newId());
      } catch (error) {
        if (!(error instanceof StepLimitError)) throw error;
      }
      const used = process.cpuUsage(begin);
      return (used.user + used.system) / 1_000;
    });
    console.log(`  ${name.padEnd(16)} ${times.map((ms) => ms.toFixed(1).padStart(8)).join(' ')}`);
  }
}

if (import.meta.main) {
  benchRender();
  benchHostile();
}
