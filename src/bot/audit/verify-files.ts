import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { AUDIT_CLASSES } from '../domain/audit-entry.ts';
import { endField, filesOf, firstField } from './audit-files.ts';
import { chainKeyOf, checkLine, readEnd, readHead, type FileEnd } from './chain.ts';
import { linesOf } from './lines-of.ts';

/** A place where the record is not what Parley wrote. */
export interface AuditBreak {
  file: string;
  /** From 1. 0: the file as a whole. */
  line: number;
  reason: 'missing' | 'changed' | 'no-key' | 'ends-early' | 'added';
}

export interface VerifyResult {
  files: number;
  lines: number;
  breaks: AuditBreak[];
}

/**
 * Checks every line of the audit files. The positions that Redis stores show whether lines are missing at the end or whole
 * files at the beginning; without them (undefined) only what the files show can be checked.
 */
export async function verifyFiles(
  directory: string,
  keyRing: KeyRing,
  positions: Readonly<Record<string, string>> | undefined,
): Promise<VerifyResult> {
  const result: VerifyResult = { files: 0, lines: 0, breaks: [] };
  for (const kind of AUDIT_CLASSES) {
    const files = await filesOf(directory, kind);
    const recorded = readEnd(positions?.[endField(kind)]);
    const first = positions?.[firstField(kind)];
    if (first !== undefined && files[0] !== first && !files.includes(first)) addBreak(result, first, 0, 'missing');
    // Files before the first recorded one are expired; their deletion was interrupted.
    const kept = first === undefined ? files : files.filter((file) => file >= first);
    const whole = recorded && !kept.includes(recorded.file) ? [...kept, recorded.file] : kept;
    let before: FileEnd | undefined;
    for (const [at, file] of whole.entries()) {
      const next = whole[at + 1];
      const end = next === undefined ? recorded : await followsOf(directory, next);
      before = await verifyFile({ directory, keyRing, result }, file, { before, isFirst: at === 0, end });
    }
  }
  return result;
}

interface Verifying {
  directory: string;
  keyRing: KeyRing;
  result: VerifyResult;
}

interface Expected {
  before: FileEnd | undefined;
  isFirst: boolean;
  /** End of this file, as recorded by the next file or in Redis. */
  end: FileEnd | undefined;
}

/** Reports at most one break: behind it, nothing of the file can be checked. @returns the end of the file as it is */
async function verifyFile(
  { directory, keyRing, result }: Verifying,
  file: string,
  { before, isFirst, end }: Expected,
): Promise<FileEnd | undefined> {
  const path = join(directory, file);
  const size = await sizeOf(path);
  if (size === undefined) {
    addBreak(result, file, 0, 'missing');
    return end;
  }
  result.files += 1;
  const own = end?.file === file ? end : undefined;
  let lines = 0;
  let bytes = 0;
  let hash = '';
  let key: ReturnType<typeof chainKeyOf>;
  for await (const line of linesOf(path)) {
    // What follows the recorded end is judged below.
    if (own && lines >= own.lines) break;
    lines += 1;
    if (lines === 1) {
      const head = readHead(line);
      key = head && chainKeyOf(keyRing, head.key);
      if (head && !key) return brokenAt(result, { file, line: 1, reason: 'no-key' }, end);
      const follows = head?.follows ?? null;
      if (!isFirst && follows?.file !== before?.file) addBreak(result, follows?.file ?? file, 0, 'missing');
      if (!head || head.file !== file) return brokenAt(result, { file, line: 1, reason: 'changed' }, end);
      hash = follows?.hash ?? '';
    }
    const checked = key && checkLine(key, hash, line);
    if (!checked) return brokenAt(result, { file, line: lines, reason: 'changed' }, end);
    hash = checked.hash;
    bytes += Buffer.byteLength(line) + 1;
    result.lines += 1;
  }
  if (own && (lines < own.lines || hash !== own.hash)) {
    addBreak(result, file, lines + 1, lines < own.lines ? 'ends-early' : 'changed');
    return own;
  }
  if (own && size !== own.bytes) addBreak(result, file, own.lines + 1, size > own.bytes ? 'added' : 'ends-early');
  return { file, bytes, lines, hash };
}

function brokenAt(
  result: VerifyResult,
  { file, line, reason }: AuditBreak,
  end: FileEnd | undefined,
): FileEnd | undefined {
  addBreak(result, file, line, reason);
  return end?.file === file ? end : undefined;
}

function addBreak({ breaks }: VerifyResult, file: string, line: number, reason: AuditBreak['reason']): void {
  if (!breaks.some((one) => one.file === file && one.line === line)) breaks.push({ file, line, reason });
}

/** The end that a file records for the file before it. */
async function followsOf(directory: string, file: string): Promise<FileEnd | undefined> {
  if ((await sizeOf(join(directory, file))) === undefined) return undefined;
  for await (const line of linesOf(join(directory, file))) return readHead(line)?.follows ?? undefined;
  return undefined;
}

/** Undefined if there is no such file. */
async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
