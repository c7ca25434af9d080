import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { SmtpCounting } from '../../sending/smtp-in/index.ts';

/** The metrics of a process for SMTP submission. */
export interface SmtpMetrics extends SmtpCounting {
  readonly registry: Registry;
}

/** Makes the registry; `connections` says how many there are at the moment. */
export function createSmtpMetrics(connections: () => number): SmtpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'fernpost_smtp_connections',
    help: 'Connections by SMTP at the moment',
    registers: [registry],
    collect() {
      this.set(connections());
    },
  });
  const accepted = new Counter({
    name: 'fernpost_smtp_messages_accepted_total',
    help: 'Messages that were taken by SMTP, repetitions included',
    registers: [registry],
  });
  const refused = new Counter({
    name: 'fernpost_smtp_refusals_total',
    help: 'Sign-ins, recipients and messages that were refused, by the code of the reply',
    labelNames: ['code'],
    registers: [registry],
  });
  return {
    registry,
    onAccepted: () => accepted.inc(),
    onRefused: (code) => refused.inc({ code }),
  };
}
