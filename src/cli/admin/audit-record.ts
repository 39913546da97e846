import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../shared/clock.ts';
import { readPositions } from '../../bot/audit/lease.ts';
import { readRecord, type ShownEntry } from '../../bot/audit/read-record.ts';
import { verifyFiles, type AuditBreak, type VerifyResult } from '../../bot/audit/verify-files.ts';
import { accountMark } from '../../bot/audit/append-entry.ts';
import type { AdminContext, AdminResult, RunAdmin } from './admin-context.ts';

/** `admin audit verify` and `admin audit show`. */
export const auditRecord: RunAdmin = (context, { subject: action, options }) =>
  action === 'verify' ? verify(context) : show(context, options);

/** What `where` (file and line) is wrong with. */
function sentenceOf(where: string, reason: AuditBreak['reason']): string {
  switch (reason) {
    case 'missing':
      return `${where}: the file is missing\n`;
    case 'changed':
      return `${where}: the line was changed, removed, added or moved\n`;
    case 'no-key':
      return `${where}: the key of the file is not in SECRET_KEY or SECRET_KEY_PREVIOUS\n`;
    case 'ends-early':
      return `${where}: lines are missing from here on\n`;
    case 'added':
      return `${where}: lines were added from here on\n`;
  }
}

async function verify(context: AdminContext): Promise<AdminResult> {
  const { directory } = context.config.audit;
  if (directory === undefined)
    return { outcome: 'not-found', data: { files: 0 }, text: 'There are no audit files: AUDIT_DIR is not set\n' };
  const check = async () => verifyFiles(directory, context.keyRing, await readPositions(context.redis));
  let result = await check();
  if (result.breaks.length > 0) {
    // A worker may have been writing: it records the end of a file right after it has written.
    await pause(SECOND_MS);
    result = await check();
  }
  return resultOf(result);
}

function resultOf(result: VerifyResult): AdminResult {
  const { files, lines, breaks } = result;
  if (breaks.length === 0)
    return { data: { ...result, isIntact: true }, text: `Intact. Files: ${files}, lines: ${lines}\n` };
  const told = breaks.map(({ file, line, reason }) => sentenceOf(`${file}:${line}`, reason));
  return { outcome: 'refused', data: { ...result, isIntact: false }, text: told.join('') };
}

async function show(
  { config, redis, keyRing, output }: AdminContext,
  options: Readonly<Record<string, string | boolean | undefined>>,
): Promise<AdminResult> {
  const account = typeof options['account'] === 'string' ? options['account'] : undefined;
  const sinceMs = typeof options['since'] === 'string' ? Date.parse(options['since']) : 0;
  const mark = account === undefined ? undefined : accountMark(keyRing, account);
  const record = readRecord({ redis, keyRing, directory: config.audit.directory }, { account, mark, sinceMs });
  const admins = new Map(config.adminIds.map((id) => [accountMark(keyRing, id), id]));
  for await (const entry of record) if (!output.write(lineOf(entry, admins))) await once(output, 'drain');
  return { data: undefined, text: '', isCsv: true };
}

/**
 * One JSON object per line, for a terminal and for programs alike.
 * @param admins accounts of `ADMIN_IDS` by their mark, to name who acted on the page
 */
function lineOf(entry: ShownEntry, admins: ReadonlyMap<string, string>): string {
  const by = entry['by'];
  return `${JSON.stringify(typeof by === 'string' ? { ...entry, by: admins.get(by) ?? by } : entry)}\n`;
}
