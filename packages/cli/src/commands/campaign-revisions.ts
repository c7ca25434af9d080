import type { Body } from '@fernpost/sdk';
import { Command, Option } from 'commander';
import { contentOf } from '../content.ts';
import { UsageError } from '../errors.ts';
import { plain, print } from '../output.ts';
import { confirm } from '../prompt.ts';
import { clientOf } from '../settings.ts';

type Correction = Body<'createCampaignCorrection'>;

/** `fernpost campaigns revise`: other content for who has not got a paused campaign yet. */
export function reviseCommand(): Command {
  return new Command('revise')
    .description('replace the content of a paused campaign for recipients who have not received it yet')
    .argument('<id>')
    .option('--subject <text>', 'subject, with {{ variables }}')
    .option('--body <html>', 'HTML; "@file" reads a file, "-" standard input')
    .option('--resume', 'continue sending afterwards')
    .option('--yes', 'do not ask')
    .action(revise);
}

async function revise(
  id: string,
  options: { subject?: string; body?: string; resume?: true; yes?: true },
  command: Command,
): Promise<void> {
  if (options.subject === undefined && options.body === undefined) throw new UsageError('Give --subject or --body.');
  const client = clientOf(command);
  const [{ name }, { pendingCount }] = await Promise.all([client.campaigns.get(id), client.campaigns.stats(id)]);
  const body = {
    ...(options.subject === undefined ? {} : { subject: options.subject }),
    ...(options.body === undefined ? {} : { body: await contentOf(options.body) }),
  };
  if (!options.yes)
    await confirm(`Revise "${plain(name)}" for the ${pendingCount} recipients who have not received it?`);
  const path = { id };
  const revised = await client.call('reviseCampaign', { path, body });
  if (!options.resume) return print(command, revised.data, revised.message);
  const { data } = await client.call('resumeCampaign', { path });
  print(command, data, `${plain(name)}: sending continues with version ${data.contentVersion}`);
}

/** `fernpost campaigns correct`: a draft for exactly those who got certain versions. */
export function correctCommand(): Command {
  return new Command('correct')
    .description('create a draft for exactly the recipients of certain versions of a campaign')
    .argument('<id>')
    .requiredOption('--subject <text>', 'subject, with {{ variables }}')
    .requiredOption('--body <html>', 'HTML; "@file" reads a file, "-" standard input')
    .option('--versions <number...>', 'versions of the content', ['1'])
    .addOption(
      new Option('--who <who>', 'which of their recipients').choices(['got', 'opened', 'clicked']).default('got'),
    )
    .action(
      async (id: string, options: Record<'subject' | 'body' | 'who', string> & { versions: string[] }, command) => {
        const { data } = await clientOf(command).call('createCampaignCorrection', {
          path: { id },
          body: {
            versions: options.versions.map(Number),
            who: options.who as Correction['who'],
            subject: options.subject,
            body: await contentOf(options.body),
          },
        });
        const { name, totalRecipients, id: draft } = data;
        print(
          command,
          data,
          `${plain(name)}: a draft for ${totalRecipients} ${totalRecipients === 1 ? 'contact' : 'contacts'}. Send it with: campaigns launch ${draft}`,
        );
      },
    );
}
