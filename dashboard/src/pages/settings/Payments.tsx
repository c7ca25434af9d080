import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import type { components } from '../../api/schema.d.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { Figure } from '../../ui/Figure.tsx';
import { Card } from '../../ui/Page.tsx';
import { Empty, Note, Problem, Shown } from '../../ui/States.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count, money } from '../../words/numbers.ts';
import { mayAdminister, type Project } from './project.ts';

type MonthSoFar = components['schemas']['BillingConsumption'];
type Bills = components['schemas']['InvoiceList'];

const currencies = ['eur', 'usd', 'gbp'] as const;

/** Shows the costs of the month and the invoices, or offers a subscription. Payments are made on the processor's pages. */
export function Payments({ project }: { project: Project }) {
  const path = { id: project.id };
  const consumption = useQuery({
    queryKey: ['billing-consumption', project.id],
    queryFn: () => orNone(answer(api.GET('/users/@me/projects/{id}/billing-consumption', { params: { path } }))),
  });
  const invoices = useQuery({
    queryKey: ['billing-invoices', project.id],
    queryFn: () => orNone(answer(api.GET('/users/@me/projects/{id}/billing-invoices', { params: { path } }))),
  });
  return (
    <>
      <Card title="Subscription">
        <Shown query={consumption}>
          {(result) =>
            result === null ? <Subscribe project={project} /> : <Consumption project={project} result={result} />
          }
        </Shown>
      </Card>
      <Card title="Invoices">
        <Shown query={invoices}>
          {(result) =>
            result === null || result.invoices.length === 0 ? (
              <Empty title="No invoices yet">Your first invoice arrives at the end of the first paid month.</Empty>
            ) : (
              <Invoices result={result} />
            )
          }
        </Shown>
      </Card>
    </>
  );
}

const invoiceColumns: Column<Bills['invoices'][number]>[] = [
  { key: 'number', title: 'Number', cell: ({ number, id }) => number ?? id },
  { key: 'created', title: 'Date', cell: ({ created }) => <Timestamp at={created} /> },
  {
    key: 'total',
    title: 'Total',
    number: true,
    cell: ({ total, currency }) => money(total, currency),
  },
  {
    key: 'paid',
    title: 'Status',
    cell: ({ paid }) => <Badge tone={paid ? 'good' : 'warn'}>{paid ? 'Paid' : 'Unpaid'}</Badge>,
  },
  {
    key: 'open',
    title: 'Document',
    cell: ({ hostedInvoiceUrl, number, id }) =>
      hostedInvoiceUrl ? (
        <a href={hostedInvoiceUrl} target="_blank" rel="noreferrer">
          Open <span className="sr-only">{number ?? id}</span>
        </a>
      ) : null,
  },
];

function Consumption({ project, result }: { project: Project; result: MonthSoFar }) {
  return (
    <div className="stack">
      <dl className="figures">
        <Figure name="Emails this month" value={count(result.usage.total)} />
        {result.upcomingInvoice ? (
          <Figure
            name="Next invoice so far"
            value={money(result.upcomingInvoice.total, result.upcomingInvoice.currency)}
          />
        ) : null}
        {result.credits?.hasCredits && result.credits.currency ? (
          <Figure name="Credit" value={money(result.credits.creditAmount, result.credits.currency)} />
        ) : null}
      </dl>
      {mayAdminister(project) ? <Portal project={project} /> : null}
    </div>
  );
}

function Invoices({ result }: { result: Bills }) {
  return (
    <div className="stack">
      {result.hasUnpaidInvoices ? (
        <Note tone="warn">{count(result.unpaidInvoices.length)} unpaid. Open them below to pay.</Note>
      ) : null}
      <Table label="Invoices" rows={result.invoices} rowKey={({ id }) => id} columns={invoiceColumns} />
    </div>
  );
}

function Subscribe({ project }: { project: Project }) {
  const [currency, setCurrency] = useState<string>('eur');
  const checkout = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/users/@me/projects/{id}/checkout', { params: { path: { id: project.id }, query: { currency } } }),
      ),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <div className="stack">
      <p>This project has no subscription.</p>
      {checkout.error ? <Problem error={checkout.error} /> : null}
      {mayAdminister(project) ? (
        <div className="filters">
          <SelectField label="Currency" value={currency} onChange={(event) => setCurrency(event.target.value)}>
            {currencies.map((each) => (
              <option key={each} value={each}>
                {each.toUpperCase()}
              </option>
            ))}
          </SelectField>
          <Button variant="primary" busy={checkout.isPending} onClick={() => checkout.mutate()}>
            Subscribe
          </Button>
        </div>
      ) : (
        <p className="muted">Only admins and the owner can subscribe.</p>
      )}
    </div>
  );
}

function Portal({ project }: { project: Project }) {
  const open = useMutation({
    mutationFn: () =>
      answer(api.POST('/users/@me/projects/{id}/billing-portal', { params: { path: { id: project.id } } })),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <div className="stack">
      {open.error ? <Problem error={open.error} /> : null}
      <div>
        <Button busy={open.isPending} onClick={() => open.mutate()}>
          Manage billing
        </Button>
      </div>
    </div>
  );
}

// A project that has never paid is answered 400 here, which is a state of it and nothing that went wrong.
async function orNone<Data>(asked: Promise<Data>): Promise<Data | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return null;
    throw error;
  }
}
