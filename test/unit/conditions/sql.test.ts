import { describe, expect, test } from 'vitest';
import { parseCondition } from '../../../src/lib/conditions/condition.ts';
import { segmentFacts } from '../../../src/lib/conditions/segments.ts';
import { type CompileOptions, compileCondition } from '../../../src/lib/conditions/sql.ts';

const projectId = '20000000-0000-4000-8000-000000000001';
const segmentId = '10000000-0000-4000-8000-000000000001';
const options: CompileOptions = {
  projectId,
  now: new Date('2026-03-15T12:00:00.000Z'),
  segments: new Map([
    [segmentId, segmentFacts({ id: segmentId, type: 'STATIC', trackMembership: false, condition: null })],
  ]),
};

function compile(filters: unknown[], more: Partial<CompileOptions> = {}, logic = 'AND') {
  const tree = { logic, groups: filters.map((filter) => ({ filters: [filter] })) };
  const { text, values } = compileCondition(parseCondition(tree), { ...options, ...more });
  return { sql: text, params: values };
}

const purchase = { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'days' };
const neverOpened = { field: 'email.opened', operator: 'notTriggered' };
const pro = { field: 'data.plan', operator: 'equals', value: 'pro' };
const member = { field: `segment.${segmentId}`, operator: 'memberOfSegment' };

describe('a condition as SQL', () => {
  test('tests equality of data by containment, which the index on data serves', () => {
    expect(compile([pro])).toEqual({ sql: 'c.data @> $1::jsonb', params: ['{"plan":"pro"}'] });
  });

  test('tests order of numbers by a strict jsonpath whose key and number are JSON', () => {
    expect(compile([{ field: 'data.o"clock', operator: 'greaterThan', value: -5 }])).toEqual({
      sql: 'c.data @@ $1::jsonpath',
      params: ['strict $."o\\"clock" > -5'],
    });
  });

  test('searches addresses with escaped wildcards', () => {
    expect(compile([{ field: 'email', operator: 'contains', value: '50%_A\\' }])).toEqual({
      sql: 'c.email like $1::text',
      params: ['%50\\%\\_a\\\\%'],
    });
  });

  test('joins with events and memberships that every match must have, within the project', () => {
    const { sql, params } = compile([purchase, member]);
    expect(sql).toBe(
      '(c.id in (select t.contact_id from events t where t.project_id = $1::uuid and t.name = $2::text' +
        ' and t.created_at >= $3::timestamptz)' +
        ' and c.id in (select t.contact_id from segment_memberships t where t.segment_id = $4::uuid and t.exited_at is null))',
    );
    expect(params).toEqual([projectId, 'purchase', '2026-02-13T12:00:00.000Z', segmentId]);
  });

  test('never has a plain "in" below an OR, where Postgres may search it from end to end for each contact', () => {
    const page = compile([pro, purchase, neverOpened, member], {}, 'OR').sql;
    expect(page).not.toContain('c.id in');
    expect(page.match(/exists \(select/g)).toHaveLength(3);
    const all = compile([pro, purchase, neverOpened, member], { reach: 'all' }, 'OR').sql;
    expect(all).not.toContain('exists');
    expect(all.match(/c\.id in \(select unnest\(array\(select/g)).toHaveLength(3);
  });

  test('counts no more events of one contact than decide, and groups those of all contacts once', () => {
    const thrice = { ...purchase, operator: 'triggered', times: { atLeast: 2, atMost: 3 } };
    const events = 'from events t where';
    expect(compile([thrice], { reach: 'one' }).sql).toBe(
      `(select count(*) >= 2 and count(*) <= 3 from (select ${events} t.contact_id = c.id and t.project_id = $1::uuid and t.name = $2::text limit 4) counted)`,
    );
    expect(compile([thrice], { reach: 'all' }).sql).toBe(
      `c.id in (select t.contact_id ${events} t.project_id = $1::uuid and t.name = $2::text group by t.contact_id having count(*) >= 2 and count(*) <= 3)`,
    );
    expect(compile([{ ...thrice, times: { atLeast: 0, atMost: 3 } }], { reach: 'all' }).sql).toBe(
      `not (c.id in (select unnest(array(select t.contact_id ${events} t.contact_id is not null and t.project_id = $1::uuid and t.name = $2::text group by t.contact_id having count(*) > 3))))`,
    );
  });

  test('has an anti-join for what no match may have, however much of the audience is asked', () => {
    for (const reach of ['page', 'all'] as const) {
      expect(compile([neverOpened], { reach }).sql).toBe(
        'not exists (select from emails t where t.contact_id = c.id and t.project_id = $1::uuid and t.opened_at is not null)',
      );
    }
  });

  test('puts the condition of an untracked segment in its place', () => {
    const condition = { logic: 'AND', groups: [{ filters: [pro] }] };
    const live = segmentFacts({ id: segmentId, type: 'DYNAMIC', trackMembership: false, condition });
    const segments = new Map([[segmentId, live]]);
    expect(compile([member], { segments }).sql).toBe('c.data @> $1::jsonb');
    expect(compile([{ ...member, operator: 'notMemberOfSegment' }], { segments }).sql).toBe(
      '((c.data @> $1::jsonb) is not true)',
    );
  });

  test('matches nobody in a segment that is gone, and everybody outside it', () => {
    const segments = new Map();
    expect(compile([member], { segments }).sql).toBe('false');
    expect(compile([{ ...member, operator: 'notMemberOfSegment' }], { segments }).sql).toBe('true');
  });

  test("keeps every text of the caller's out of the SQL, and uses every parameter it sends", () => {
    const probe = `x'"\\$?;--`;
    const window = { value: 3, unit: 'days' };
    const data = ['equals', 'notEquals', 'contains', 'notContains', 'greaterThan', 'lessThanOrEqual'];
    const filters = [
      ...data.map((operator) => ({ field: `data.${probe}`, operator, value: probe })),
      ...data.map((operator) => ({ field: `data.${probe}.${probe}`, operator, value: '2026-01-15' })),
      ...['equals', 'lessThan'].map((operator) => ({ field: `data.${probe}.b`, operator, value: 5 })),
      { field: `data.${probe}`, operator: 'equals', value: { [probe]: [probe] } },
      { field: `data.${probe}`, operator: 'within', ...window },
      { field: `data.${probe}.b`, operator: 'olderThan', ...window },
      { field: `data.${probe}`, operator: 'exists' },
      { field: `data.${probe}.b`, operator: 'notExists' },
      ...['equals', 'notEquals', 'contains', 'notContains'].map((operator) => ({
        field: 'email',
        operator,
        value: probe,
      })),
      { field: `event.${probe}`, operator: 'triggeredOlderThan', ...window },
      { field: probe, operator: 'notTriggeredWithin', ...window },
      { field: `data.${probe}`, operator: 'withinNext', ...window },
      { field: `data.${probe}.b`, operator: 'anniversaryWithin', ...window },
      {
        field: `event.${probe}`,
        operator: 'triggeredWithin',
        ...window,
        where: data.map((operator) => ({ path: `${probe}.b`, operator, value: probe })).slice(0, 5),
        times: { atLeast: 2 },
      },
      { field: 'email.clicked', operator: 'triggered', link: probe, of: { stepId: segmentId } },
      member,
    ];
    for (const filter of filters) {
      const { sql, params } = compile([filter], { reach: 'all' });
      expect(sql).not.toMatch(/x'"|--|;/);
      const used = new Set([...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      expect([...used].sort((a, b) => a - b)).toEqual(params.map((_, index) => index + 1));
    }
  });
});
