import { EXIT } from '../../shared/process/exit-codes.ts';
import { createLog } from '../../shared/log.ts';
import { createRecordAct, type RecordAct } from '../../bot/admin/record-act.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';
import type { Translate } from '../terminal/translate.ts';
import { withStoredData } from '../stored-data.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { accountMark } from '../../bot/audit/append-entry.ts';
import { administrator } from './administrator.ts';
import type { AdminArguments, AdminContext, AdminSubcommand } from './admin-context.ts';
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
 * @returns the exit code: 0 done, 1 not found or refused, 2 wrong arguments
 */
export async function runAdminCommand(command: AdminCommand): Promise<number> {
  const { asked, config, output, asides, translate } = command;
  const subcommand = ADMIN_SUBCOMMANDS.find(({ name }) => name === asked.subcommand);
  if (!subcommand) return EXIT.usage;
  const run = await subcommand.load();
  const writer = { write: (text: string) => asides.write(translate(text)) };
  const options = { config, secrets: command.secrets, name: 'admin', asides: writer, notRunning: NOT_RUNNING };
  return withStoredData(options, async (redis, keyRing, secrets) => {
    const recordAct = actRecorder({ config, redis, keyRing }, asides);
    const result = await run({ config, secrets, redis, keyRing, nowMs: Date.now, output, recordAct }, asked);
    const { outcome = 'done', isWrongUse = false, data, text, isCsv = false } = result;
    const { act = asked.subcommand, about = subjectOf(subcommand, asked.subject, keyRing) } = result;
    if (!isWrongUse) await recordAct({ act, subject: about, outcome });
    if (asked.isJson && data !== undefined) output.write(`${JSON.stringify(data)}\n`);
    else if (!asked.isJson) (outcome === 'done' ? output : asides).write(isCsv ? text : translate(text));
    if (isWrongUse) return EXIT.usage;
    return outcome === 'done' ? EXIT.ok : EXIT.failed;
  });
}

/** A person appears in logs and in the audit record as a keyed hash only. */
function subjectOf({ subject }: AdminSubcommand, given: string, keyRing: KeyRing): string | undefined {
  if (given === '') return undefined;
  return subject?.isAccount === true ? accountMark(keyRing, given) : given;
}

/** One log line for each act, on the output for messages, and one entry of the audit record. */
function actRecorder(
  { config: { log: settings }, redis, keyRing }: Pick<AdminContext, 'config' | 'redis' | 'keyRing'>,
  destination: NodeJS.WritableStream,
): RecordAct {
  const log = createLog({ level: settings.level, format: 'json', role: 'admin', destination });
  return createRecordAct({ log, redis, keyRing, nowMs: Date.now, by: administrator() });
}
