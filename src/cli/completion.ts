import type { Command } from 'commander';
import type { Translate } from './terminal/translate.ts';

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** The completion script of a program: commands, their options, and files. */
export function completionOf(program: Command, shell: Shell, translate: Translate): string {
  return shell === 'bash' ? bashScript(program) : zshScript(program, translate);
}

const optionsOf = (command: Command) =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (typeof long === 'string' ? [{ name: long, description }] : []));

/** The values of the first argument: the shells of `completion`, the subcommands of `admin`. */
function valuesOf(command: Command): readonly string[] {
  return command.name() === 'completion' ? SHELLS : command.commands.map((each) => each.name());
}

function bashScript(program: Command): string {
  const cases = program.commands.map((command) => {
    const words = [...valuesOf(command), ...optionsOf(command).map(({ name }) => name)];
    return `    ${command.name()}) words='${words.join(' ')}' ;;\n`;
  });
  return `_parley() {
  local words=''
  case \${COMP_WORDS[1]} in
${cases.join('')}  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='${program.commands.map((command) => command.name()).join(' ')}'; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _parley parley
`;
}

function zshScript(program: Command, translate: Translate): string {
  const entry = (name: string, description: string) => `'${name}:${translate(description).replaceAll("'", "'\\''")}'`;
  const commands = program.commands.map((command) => entry(command.name(), command.description()));
  const cases = program.commands.map((command) => {
    const words = [
      ...valuesOf(command).map((value) => entry(value, value)),
      ...optionsOf(command).map(({ name, description }) => entry(name, description)),
    ];
    return `    ${command.name()}) entries=(${words.join(' ')}) ;;\n`;
  });
  return `#compdef parley
_parley() {
  local -a entries
  if (( CURRENT == 2 )); then
    entries=(${commands.join(' ')})
    _describe command entries
    return
  fi
  case $words[2] in
${cases.join('')}  esac
  _describe option entries || _files
}
if [ "$funcstack[1]" = _parley ]; then _parley "$@"; else compdef _parley parley; fi
`;
}
