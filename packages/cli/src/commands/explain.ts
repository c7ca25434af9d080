import type { Body } from '@fernpost/sdk';
import { Command, Option } from 'commander';
import { UsageError } from '../errors.ts';
import { print, table } from '../output.ts';
import { clientOf } from '../settings.ts';

interface Options {
  campaign?: string;
  workflow?: string;
  email?: string;
}

const only = (flags: string, description: string, ...others: string[]) =>
  new Option(flags, description).conflicts(others);

/** `fernpost explain`. */
export function explainCommand(): Command {
  return new Command('explain')
    .description('why a contact received something, or didn’t')
    .argument('<contact>', 'address or id')
    .argument('[campaign]', 'id of the campaign that you ask about')
    .addOption(only('--campaign <id>', 'ask about a campaign', 'workflow', 'email'))
    .addOption(only('--workflow <id>', 'ask about a workflow', 'campaign', 'email'))
    .addOption(only('--email <id>', 'ask about an email', 'campaign', 'workflow'))
    .action(async (contact: string, campaign: string | undefined, options: Options, command: Command) => {
      if (campaign !== undefined && Object.keys(options).length > 0)
        throw new UsageError('Choose one: a campaign, a workflow or an email.');
      const about = aboutOf(campaign === undefined ? options : { campaign });
      const found = await clientOf(command).call('explain', { body: { contact, about } });
      const marks = { pass: '+', stop: '!', info: ' ' };
      const decisions = table(found.decisions.map(({ outcome, at, sentence }) => [marks[outcome], at, sentence]));
      const next = found.next === null ? '' : `\n\nNext: ${found.next.what}`;
      print(command, found, `${found.verdict}: ${found.sentence}\n\n${decisions}${next}`);
    });
}

function aboutOf({ campaign, workflow, email }: Options): Body<'explain'>['about'] {
  if (campaign !== undefined) return { campaignId: campaign };
  if (workflow !== undefined) return { workflowId: workflow };
  return email === undefined ? { topic: 'any' } : { emailId: email };
}
