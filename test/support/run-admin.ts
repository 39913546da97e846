import { PassThrough } from 'node:stream';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { runAdminCommand } from '../../src/cli/admin/admin-command.ts';

/** Runs `npm run admin` in this process. @returns the exit code and what was printed */
export async function runAdmin(
  env: Readonly<Record<string, string>>,
  subcommand: string,
  subject = '',
  given: Readonly<Record<string, string | boolean>> = {},
): Promise<{ code: number; text: string; asides: string; data: unknown }> {
  const settings = loadSettings({ env, cwd: process.cwd() });
  if (!settings.ok) throw new Error(settings.faults.map(({ message }) => message).join('\n'));
  const { config, secrets } = settings;
  const { json: isJson = true, ...options } = given;
  const [output, asides] = [new PassThrough(), new PassThrough()];
  const code = await runAdminCommand({
    asked: { subcommand, subject, options, isJson: isJson === true },
    ...{ config, secrets, output, asides, translate: (text: string) => text },
  });
  const text = (output.read() as Buffer | null)?.toString() ?? '';
  const parse = () => JSON.parse(text) as unknown;
  return {
    code,
    text,
    asides: (asides.read() as Buffer | null)?.toString() ?? '',
    data: isJson === true && text.split('\n').length === 2 ? parse() : undefined,
  };
}
