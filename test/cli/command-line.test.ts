import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readCommandLine } from '../../src/cli/command-line.ts';
import { VERSION } from '../../src/shared/version.ts';
import { startParleyProcess } from '../support/parley-process.ts';

const execute = promisify(execFile);
const COMMANDS = ['start', 'setup', 'check', 'eval', 'feedback', 'hash-password', 'slack-manifest', 'completion'];
const read = (args: readonly string[]) => readCommandLine(args, { npmScript: '' });

const SETTINGS = { kind: 'settings', isJson: false };
const EVALUATION = { file: undefined, against: undefined, judgesAll: false, perMinute: 30, isJson: false };

describe('the command line', () => {
  test.each([
    [[], { command: 'start', opensBrowser: true }],
    [['start'], { command: 'start', opensBrowser: true }],
    [['--no-open'], { command: 'start', opensBrowser: false }],
    [['start', '--no-open'], { command: 'start', opensBrowser: false }],
    [['setup'], { command: 'setup', takesEnvironment: false }],
    [['setup', '--yes'], { command: 'setup', takesEnvironment: true }],
    [['check'], { command: 'check', asked: SETTINGS }],
    [['check', '--json'], { command: 'check', asked: { ...SETTINGS, isJson: true } }],
    [['check', '--sign-in'], { command: 'check', asked: { kind: 'sign-in' } }],
    [['check', '--sign-in', '--person', 'zhangwei'], { command: 'check', asked: { person: 'zhangwei' } }],
    [['check', '--sign-in', '--code-ages', '0.5,1,60'], { command: 'check', asked: { codeAgesMs: [500, 1e3, 6e4] } }],
    [['check', '--as', 'JG 3100 private'], { command: 'check', asked: { kind: 'as', isJson: false } }],
    [['eval'], { command: 'eval', asked: EVALUATION }],
    [
      ['eval', 'own.yaml', '--against', 'run.json', '--judge', '--per-minute', '600', '--json'],
      {
        command: 'eval',
        asked: { file: 'own.yaml', against: 'run.json', judgesAll: true, perMinute: 600, isJson: true },
      },
    ],
    [['feedback'], { command: 'feedback', days: undefined, isJson: false }],
    [['feedback', '--days', '7', '--json'], { command: 'feedback', days: 7, isJson: true }],
    [['hash-password'], { command: 'hash-password' }],
    [
      ['slack-manifest', '--agent', '--lang', 'zh'],
      { command: 'slack-manifest', asked: { isAgent: true, isPrinted: false, language: 'zh' } },
    ],
  ])('%j is understood', (args, expected) => {
    expect(read(args)).toMatchObject(expected);
  });

  test.each([
    [['--noopen'], /unknown option '--noopen'\n\(Did you mean --no-open\?\)/],
    [['chekc'], /unknown command 'chekc'\n\(Did you mean check\?\)/],
    [['start', 'now'], /too many arguments/],
    [['check', '--sign-inn'], /unknown option '--sign-inn'\n\(Did you mean --sign-in\?\)\s+Run parley check --help/],
    [['check', 'sign-in'], /too many arguments/],
    [['check', '--person', 'zhangwei'], /require --sign-in/],
    [['check', '--sign-in', '--person'], /argument missing/],
    [['check', '--sign-in', '--person', ''], /requires a user id/],
    [['check', '--code-ages', '1'], /require --sign-in/],
    [['check', '--as', 'JG 3100 private', '--sign-in'], /cannot be combined/],
    [['check', '--as', 'somebody'], /a person and a place/],
    [['check', '--sign-in', '--json'], /cannot be combined/],
    ...['', '1,', '5,1', '1,1', '0', '-1', '61', 'x', '1e3', '1,2,3,4,5,6,7,8,9'].map(
      (ages) => [['check', '--sign-in', `--code-ages=${ages}`], /increasing numbers of seconds/] as [string[], RegExp],
    ),
    [['eval', 'a', 'b'], /too many arguments/],
    [['eval', '--per-minute', '0'], /a number from 1 to 600/],
    [['eval', '--unknown'], /unknown option/],
    [['eval', '--against'], /argument missing/],
    [['feedback', '--days', '0'], /a number from 1 to 9999/],
    [['feedback', '--since', '7'], /unknown option/],
    [['admin', 'usage', '--until', '2026-02-30'], /takes a date such as/],
    [['slack-manifest', '--lang', 'fr'], /en, zh/],
    [['completion', 'fish'], /takes bash or zsh/],
  ])('%j is refused with the reason', (args, complaint) => {
    expect(read(args)).toEqual({ command: 'wrong', complaint: expect.stringMatching(complaint) });
  });

  test.each(COMMANDS)('%s --help has an example and the options', (command) => {
    const help = read([command, '--help']);
    expect(help).toEqual({
      command: 'print',
      text: expect.stringMatching(
        new RegExp(`^Usage: parley ${command}[\\s\\S]*--help[\\s\\S]*Examples:\\n  .*parley ${command}`),
      ),
    });
    expect(read(['help', command])).toEqual(help);
  });

  test('the help of an npm script names the script', () => {
    expect(readCommandLine(['check', '--help'], { npmScript: 'check' })).toMatchObject({
      text: expect.stringMatching(/^Usage: npm run check -- \[options\][\s\S]*npm run check -- --sign-in/),
    });
    expect(readCommandLine(['slack-manifest', '--lag'], { npmScript: 'slack:manifest' })).toMatchObject({
      complaint: expect.stringContaining('Run npm run slack:manifest -- --help'),
    });
  });

  test('--help lists all commands, and --version prints the version', () => {
    expect(read(['--help'])).toMatchObject({ command: 'print' });
    const { text } = read(['--help']) as { text: string };
    expect(text).toMatch(/^Usage: parley \[command\]/);
    expect(COMMANDS.filter((command) => !new RegExp(`^  ${command} .*\\w`, 'm').test(text))).toEqual([]);
    for (const args of [['--version'], ['-v'], ['start', '--version']])
      expect(read(args)).toEqual({ command: 'print', text: `${VERSION}\n` });
  });
});

describe('the program', () => {
  test.each([
    [['hash-password', '--help'], 0, /Usage: parley hash-password/],
    [['check', '--help'], 0, /--code-ages/],
    [['check', '--sign-inn'], 2, /Did you mean --sign-in/],
    [['--noopen'], 2, /Did you mean --no-open/],
    [['chekc'], 2, /Did you mean check/],
  ])('with %j exits with %i, whatever the settings are', async (args, code, printed) => {
    const parley = await startParleyProcess({ env: { PORT: 'no number' }, command: ['node', 'dist/main.js', ...args] });
    expect(await parley.ended).toBe(code);
    expect(parley.output()).toMatch(printed);
  });

  test('bench --help lists the cases and exits with 0', async () => {
    const { stdout } = await execute('node', ['bench/run.mjs', '--help']);
    expect(stdout).toMatch(/Cases: accept, answers/);
  });

  test('check --json prints the results as JSON, also with invalid settings', async () => {
    const json = async (env: Record<string, string>, ...args: string[]) => {
      const command = ['node', 'dist/main.js', 'check', '--json', ...args];
      const all = { PATH: process.env['PATH'], HOME: '/nonexistent', ENV_FILE: '/dev/null', ...env };
      const { stdout } = await execute(command[0] ?? '', command.slice(1), { env: all }).catch(
        (error: unknown) => error as { stdout: string },
      );
      return JSON.parse(stdout) as unknown;
    };
    expect(await json({})).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining({ name: 'Files', verdict: 'ok' })]),
    });
    expect(await json({ PORT: 'eighty' })).toMatchObject({ faults: 1, checks: [{ name: 'PORT', verdict: 'fault' }] });
    expect(await json({}, '--as', 'JG 3100 private')).toMatchObject({ Who: expect.stringContaining('3100') });
  });
});

describe('the completion script', () => {
  const complete = async (...words: string[]) => {
    const { text } = read(['completion', 'bash']) as { text: string };
    const typed = words.map((word) => `'${word}'`).join(' ');
    const script = `${text}\nCOMP_WORDS=(parley ${typed}); COMP_CWORD=${words.length}; _parley; echo "\${COMPREPLY[*]}"`;
    const { stdout } = await execute('bash', ['-c', script]);
    return stdout.trim().split(' ');
  };

  test('completes commands and their options in bash', async () => {
    expect(await complete('')).toEqual(expect.arrayContaining(COMMANDS));
    expect(await complete('ch')).toEqual(['check']);
    expect(await complete('check', '--s')).toEqual(['--sign-in']);
    expect(await complete('completion', 'z')).toEqual(['zsh']);
  });

  test('has an entry with its description for each command in zsh', () => {
    const { text } = read(['completion', 'zsh']) as { text: string };
    expect(text).toMatch(/^#compdef parley\n/);
    expect(COMMANDS.filter((command) => !new RegExp(`'${command}:\\w`).test(text))).toEqual([]);
    expect(text).toContain("'--agent:declares the app as an agent, for Slack'\\''s own stop button'");
  });
});
