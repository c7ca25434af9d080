import { balances } from './balance.ts';
import type { DrillResult } from './run.ts';

const count = (number: number) => number.toLocaleString('en-US');

/** The balance sheet, line by line. The last line says whether it balances. */
export function balanceSheet(result: DrillResult, recipients: number): string[] {
  const { balance, killed, disturbed } = result;
  const { verdicts, letters, reasons } = balance;
  const row = (label: string, value: string) => `  ${label.padEnd(28)}${value}`;
  return [
    '',
    'Balance sheet',
    row('recipients', `${count(balance.recipients)} of ${count(recipients)} in the ledger`),
    row(
      'verdicts',
      `${count(verdicts.handedOver)} handed over, ${count(verdicts.skipped)} skipped, ${count(verdicts.failed)} failed, ${count(verdicts.open)} open`,
    ),
    ...reasons.map(({ reason, count: times }) => row('', `${count(times)}: ${reason}`)),
    row('audit of the service', balance.addsUp ? 'adds up' : 'does NOT add up'),
    row('messages at the sink', count(balance.messages)),
    row('missing', examples(balance.missing)),
    row('twice', examples(balance.twice)),
    row('not in the ledger as sent', count(balance.unrecorded)),
    row('letters beside it', `${count(letters.accepted)} accepted, ${count(letters.uncertain)} cut off`),
    row('  missing', examples(letters.missing)),
    row('  twice', examples(letters.twice)),
    row(
      'kill -9',
      Object.entries(killed)
        .map(([name, times]) => `${name} ${times}`)
        .join(', '),
    ),
    row('restarts by the supervisor', count(result.restarts.length)),
    ...result.restarts.filter((line) => !line.includes('SIGKILL')).map((line) => row('', `unasked: ${line}`)),
    row('the provider', [...disturbed].map(([label, times]) => `${label} ${times}`).join(', ')),
    row('time from send to SENT', result.finished ? `${(result.sendMs / 1000).toFixed(1)} s` : 'not finished in time'),
    '',
    succeeded(result, recipients)
      ? 'Everybody got it, nobody got it twice, and the ledger knows it.'
      : 'The balance sheet does NOT balance.',
  ];
}

/** Whether the campaign ended and everything balances. */
export function succeeded(result: DrillResult, recipients: number): boolean {
  return result.finished && balances(result.balance, recipients);
}

/** How many addresses, and the first three of them. */
export function examples(addresses: readonly string[]): string {
  const more = addresses.length > 3 ? ', …' : '';
  return addresses.length === 0 ? '0' : `${count(addresses.length)}: ${addresses.slice(0, 3).join(', ')}${more}`;
}
