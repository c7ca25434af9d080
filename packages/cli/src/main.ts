#!/usr/bin/env node
import { version } from '@fernpost/sdk';
import { Command, CommanderError } from 'commander';
import { campaignCommands } from './commands/campaigns.ts';
import { contactCommands } from './commands/contacts.ts';
import { emailCommands } from './commands/emails.ts';
import { explainCommand } from './commands/explain.ts';
import { jobCommands } from './commands/jobs.ts';
import { loginCommand } from './commands/login.ts';
import { mcpCommand } from './commands/mcp.ts';
import { sendCommand } from './commands/send.ts';
import { templateCommands } from './commands/templates.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { workflowCommands } from './commands/workflows.ts';
import { exitCodes, explainError } from './errors.ts';

const program = new Command('fernpost')
  .description('Fernpost in the terminal.')
  .version(version)
  .option('--json', 'print JSON for programs')
  .option('--url <url>', 'where the service is (or FERNPOST_URL)')
  .option('--key <key>', 'a key of the project (or FERNPOST_KEY); without it, that of `fernpost login`')
  .configureHelp({ showGlobalOptions: true })
  .addHelpText(
    'after',
    `
Exit codes: 0 done, 1 refused by the service, 2 wrong usage, 3 no answer.`,
  );
for (const command of [
  loginCommand(),
  sendCommand(),
  emailCommands(),
  explainCommand(),
  campaignCommands(),
  workflowCommands(),
  contactCommands(),
  jobCommands(),
  templateCommands(),
  webhookCommands(),
  mcpCommand(),
])
  program.addCommand(command);

throwErrors(program);
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
  else {
    const { text, json, code } = explainError(error);
    console.error(program.opts().json === true ? JSON.stringify(json) : text);
    process.exitCode = code;
  }
}

/** Wrong usage ends with the code for it; commander's own is that of a refusal. */
function throwErrors(command: Command): void {
  command.exitOverride();
  for (const one of command.commands) throwErrors(one);
}
