import { Argument, Command } from 'commander';
import { readSettings } from '../settings.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

// Each asks the program itself, so that what it completes is what this version has.
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_fernpost() {
  local IFS=$'\\n'
  COMPREPLY=($(fernpost complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fernpost fernpost`,
  zsh: `#compdef fernpost
_fernpost() {
  local -a found
  found=("\${(@f)$(fernpost complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[*]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
compdef _fernpost fernpost`,
  fish: `function __fernpost_complete
  set -l words (commandline -opc) (commandline -ct)
  fernpost complete -- $words[2..-1] 2>/dev/null
end
complete -c fernpost -a '(__fernpost_complete)'`,
};

/** `fernpost completion <shell>`: what a shell needs to complete commands. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('print what makes a shell complete commands: source <(fernpost completion bash)')
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell) => console.log(scripts[shell]));
}

/** The hidden command that the scripts call with the words of a command line up to the one that is completed. */
export function completeCommand(program: Command): Command {
  return new Command('complete').argument('[words...]').action((words: string[]) => {
    for (const candidate of candidatesFor(program, words)) console.log(candidate);
  });
}

/** Returns the candidates for the last word. */
function candidatesFor(program: Command, words: readonly string[]): string[] {
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  let command = program;
  let pending: ReturnType<typeof optionOf>;
  for (const word of before) {
    if (pending !== undefined) pending = undefined;
    else if (word.startsWith('-')) pending = optionOf(program, command, word);
    else command = command.commands.find((one) => one.name() === word) ?? command;
  }
  return valuesFor(program, command, pending, last).filter((value) => value.startsWith(last));
}

function valuesFor(
  program: Command,
  command: Command,
  pending: ReturnType<typeof optionOf>,
  last: string,
): readonly string[] {
  if (pending !== undefined) return pending.long === '--profile' ? profileNames() : (pending.argChoices ?? []);
  if (last.startsWith('-'))
    return [...command.options, ...program.options].flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  const [argument] = command.registeredArguments;
  if (argument !== undefined) return argument.name() === 'profile' ? profileNames() : (argument.argChoices ?? []);
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());
}

/** The option that a word is, where a value has to follow it. */
function optionOf(program: Command, command: Command, word: string) {
  const option = [...command.options, ...program.options].find(({ long, short }) => word === long || word === short);
  return option?.required ? option : undefined;
}

function profileNames(): string[] {
  return Object.keys(readSettings().profiles);
}
