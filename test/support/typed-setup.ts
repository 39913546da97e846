import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { TEXTS } from '../../src/cli/setup/setup-texts.ts';
import { untilTrue } from './until-true.ts';

export const ENTER = '\r';
export const DOWN = '\u001b[B';
export const CTRL_C = '\u0003';
export const MAIN = resolve('dist/main.js');

/** Marks of an open question and of its choices. An answered question is shown again with another mark. */
const MARKS = ['◆', '●', '○'];

type Language = 'en' | 'zh';

/** The questions of setup in one language. */
export const questions = (language: Language) => (name: keyof typeof TEXTS) => TEXTS[name][language];

/** A question, and the keys that answer it. */
export type Typed = readonly [question: string, keys: string];

const running: { kill(signal: NodeJS.Signals): unknown }[] = [];
/** Ends what a failed test has left. */
export function endSetups(): void {
  for (const child of running.splice(0)) child.kill('SIGKILL');
}

/** Types into `parley setup`: each answer once its question is shown. */
export async function typeSetup(
  cwd: string,
  answers: readonly Typed[],
  env: Record<string, string> = {},
): Promise<{ exitCode: number; output: string }> {
  const plain = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', TERM: 'xterm' };
  const child = spawn('node', [MAIN, 'setup'], { cwd, env: { ...plain, ...env } });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void (output += text));
  // After the exit, the last output may still be on its way.
  const closed = once(child, 'close');
  let from = 0;
  for (const [question, keys] of answers) {
    const asked = MARKS.map((mark) => `${mark} ${question}`);
    const isAsked = () => asked.some((text) => output.replaceAll(/ +/g, ' ').includes(text, from));
    await untilTrue(() => isAsked() || child.exitCode !== null, 120_000).catch(() => undefined);
    if (!isAsked()) throw new Error(`Setup did not ask "${question}": ${output.slice(-2_000)}`);
    from = output.replaceAll(/ +/g, ' ').length;
    child.stdin.write(keys);
  }
  const [exitCode] = await closed;
  return { exitCode: Number(exitCode), output };
}
