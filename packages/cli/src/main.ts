#!/usr/bin/env node
import { version } from '@fernpost/sdk';
import { Command, CommanderError, Option } from 'commander';
import { campaignCommands } from './commands/campaigns.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { contactCommands, suppressionCommands } from './commands/contacts.ts';
import { drillCommand } from './commands/drill.ts';
import { emailCommands, explainCommand, sendCommand } from './commands/emails.ts';
import { jobCommands } from './commands/jobs.ts';
import { loginCommand, profileCommands } from './commands/login.ts';
import { mcpCommand } from './commands/mcp.ts';
import { domainCommands, holdoutCommands, keyCommands } from './commands/project.ts';
import { segmentCommands } from './commands/segments.ts';
import { templateCommands } from './commands/templates.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { workflowCommands } from './commands/workflows.ts';
import { endWithReader, exitCodes, explainError } from './terminal.ts';

const program = new Command('fernpost')
  .description('Fernpost in the terminal.')
  .version(version)
  .option('--json', 'print JSON for programs')
  .option('--profile <name>', 'the login to use (or FERNPOST_PROFILE)')
  .option('--url <url>', 'where the service is (or FERNPOST_URL)')
  .option(
    '--key-file <file>',
    'a file with the key, "-" for standard input (or FERNPOST_KEY_FILE, or the key in FERNPOST_KEY)',
  )
  // Other users of the machine can read it in the list of processes.
  .addOption(new Option('--key <key>', 'a key of the project').hideHelp())
  .configureHelp({ showGlobalOptions: true })
  .addHelpText(
    'after',
    `
Exit codes: 0 done, 1 refused by the service, 2 wrong usage, 3 no response.`,
  );
for (const command of [
  loginCommand(),
  profileCommands(),
  sendCommand(),
  emailCommands(),
  explainCommand(),
  campaignCommands(),
  workflowCommands(),
  contactCommands(),
  segmentCommands(),
  suppressionCommands(),
  jobCommands(),
  templateCommands(),
  domainCommands(),
  keyCommands(),
  holdoutCommands(),
  webhookCommands(),
  drillCommand(),
  mcpCommand(),
  completionCommand(),
])
  program.addCommand(command);
program.addCommand(completeCommand(program), { hidden: true });

endWithReader();
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
