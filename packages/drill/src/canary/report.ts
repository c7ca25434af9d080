import type { DrillOptions } from '../options.ts';
import { examples } from '../report.ts';
import type { CanaryResult } from './run.ts';

const count = (number: number) => number.toLocaleString('en-US');
const row = (label: string, value: string) => `  ${label.padEnd(28)}${value}`;

/** The balance sheet of a drill with a canary, line by line. The last line says whether it balances. */
export function canarySheet(result: CanaryResult, options: Pick<DrillOptions, 'recipients' | 'canary'>): string[] {
  return [
    '',
    'Balance sheet',
    ...stopLines(result),
    ...endLines(result, options),
    row('kill -9', [...result.killed].map(([name, times]) => `${name} ${times}`).join(', ')),
    row('restarts by the supervisor', count(result.restarts.length)),
    ...result.restarts.filter((line) => !line.includes('SIGKILL')).map((line) => row('', `unasked: ${line}`)),
    '',
    canarySucceeded(result, options)
      ? 'The canary stopped the campaign, nobody else got mail until a person decided, and the ledger knows it.'
      : 'The balance sheet does NOT balance.',
  ];
}

function stopLines({ slice, wave, canary, sentAt, waveAt, atStop }: CanaryResult): string[] {
  if (canary === null || atStop === null) return [row('stopped', 'NOT in time')];
  const stopped = canary.stopped;
  const seconds = (from: string | null) =>
    from === null || canary.endedAt === null
      ? '?'
      : ((Date.parse(canary.endedAt) - Date.parse(from)) / 1000).toFixed(1);
  return [
    row('canary', `${count(slice)} of ${count(atStop.recipients)}, of whom ${count(wave)} bounced`),
    row(
      'stopped',
      stopped === null
        ? 'without a reason'
        : `${stopped.code}: ${count(stopped.count)} of ${count(stopped.of)}, limit ${stopped.limit}%`,
    ),
    row('', `${canary.endedAt}: ${seconds(sentAt)} s after the request, ${seconds(waveAt)} s after the first bounce`),
    row('messages until then', count(atStop.messages)),
    row('  outside the canary', examples(atStop.outside)),
    row('  missing in the canary', examples(atStop.missingInSlice)),
    row('  twice', examples(atStop.twice)),
  ];
}

function endLines({ balance }: CanaryResult, { canary }: Pick<DrillOptions, 'canary'>): string[] {
  const label = canary === 'cancel' ? 'cancelled' : 'resumed';
  if (balance === null) return [row(label, 'NOT in time')];
  const { verdicts } = balance;
  return [
    row(
      label,
      `${count(verdicts.handedOver)} handed over, ${count(verdicts.skipped)} skipped, ${count(verdicts.failed)} failed`,
    ),
    row('  audit of the service', balance.addsUp ? 'adds up' : 'does NOT add up'),
    row('  messages at the sink', count(balance.messages)),
    ...(canary === 'cancel'
      ? [row('  outside the canary', examples(balance.outside))]
      : [row('  missing', examples(balance.missing))]),
    row('  twice', examples(balance.twice)),
    row('  not in the ledger as sent', count(balance.unrecorded)),
  ];
}

/**
 * Whether the canary stopped the campaign for its bounces with nobody else mailed, and everything is accounted for after it was
 * resumed (everybody has one message) or cancelled (the canary has).
 */
export function canarySucceeded(
  { slice, canary, atStop, balance }: CanaryResult,
  { recipients, canary: action }: Pick<DrillOptions, 'recipients' | 'canary'>,
): boolean {
  if (canary === null || atStop === null || balance === null) return false;
  const { verdicts } = balance;
  const sent = action === 'cancel' ? slice : recipients;
  return (
    canary.stopped?.code === 'canary_bounce_rate' &&
    atStop.recipients === recipients &&
    atStop.messages === slice &&
    [atStop.outside, atStop.missingInSlice, atStop.twice, balance.twice].every(({ length }) => length === 0) &&
    balance.addsUp &&
    balance.messages === sent &&
    balance.unrecorded === 0 &&
    balance.missing.length === recipients - sent &&
    verdicts.handedOver === sent &&
    verdicts.handedOver + verdicts.skipped + verdicts.failed === recipients
  );
}
