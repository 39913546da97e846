import { EXIT } from '../../shared/process/exit-codes.ts';
import { createLog } from '../../shared/log.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';
import type { Translate } from '../terminal/translate.ts';
import { withStoredData } from '../stored-data.ts';
import type { AdminAct, AdminArguments } from './admin-context.ts';
import { ADMIN_SUBCOMMANDS } from './admin-subcommands.ts';

/** The arguments of `admin`. */
export interface AdminCall extends AdminArguments {
  subcommand: string;
  isJson: boolean;
}

interface AdminCommand {
  asked: AdminCall;
  config: Config;
  secrets: Secrets;
  output: NodeJS.WritableStream;
  asides: NodeJS.WritableStream;
  translate: Translate;
}

const NOT_RUNNING = 'The data is stored in the Redis of npm start, which is not running: run npm start first';

/**
 * `npm run admin`: runs one subcommand for an administrator.
 * @returns the exit code: 0 done, 1 not found or refused
 */
export async function runAdminCommand(command: AdminCommand): Promise<number> {
  const { asked, config, secrets, output, asides, translate } = command;
  const subcommand = ADMIN_SUBCOMMANDS.find(({ name }) => name === asked.subcommand);
  if (!subcommand) return EXIT.usage;
  const run = await subcommand.load();
  const writer = { write: (text: string) => asides.write(translate(text)) };
  const options = { config, secrets, name: 'admin', asides: writer, notRunning: NOT_RUNNING };
  return withStoredData(options, async (redis, keyRing) => {
    const recordAct = actRecorder(config, asides);
    const result = await run({ config, redis, keyRing, nowMs: Date.now, output, recordAct }, asked);
    const { outcome = 'done', data, text, isCsv = false } = result;
    await recordAct({ act: asked.subcommand, subject: asked.subject === '' ? undefined : asked.subject, outcome });
    if (asked.isJson) output.write(`${JSON.stringify(data)}\n`);
    else (outcome === 'done' ? output : asides).write(isCsv ? text : translate(text));
    return outcome === 'done' ? EXIT.ok : EXIT.failed;
  });
}

/** One log line for each act, on the output for messages. */
function actRecorder({ log: { level } }: Config, destination: NodeJS.WritableStream): (act: AdminAct) => Promise<void> {
  const log = createLog({ level, format: 'json', role: 'admin', destination });
  return async (act) => log.info(act, 'an administrator ran a command');
}
