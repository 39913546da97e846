import { copyFile, mkdir, open, readdir, rename, stat, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { AUDIT_CLASSES, type AuditClass } from '../domain/audit-entry.ts';
import { chainKey, chainLine, dayOfFile, fileName, readEnd, type FileEnd, type FileHead } from './chain.ts';

const OWNER_ONLY = 0o600;
/** Ending of files that are no part of the record. */
const UNRECORDED = '.unrecorded';
const OWNER_ONLY_FOLDER = 0o700;

/** Fields of the stored positions. */
export const endField = (kind: AuditClass) => `end:${kind}`;
export const firstField = (kind: AuditClass) => `first:${kind}`;

/**
 * Appends lines to the audit files of one lease. Each lease and each day starts a new file of each class, so that a process
 * whose lease has ended can never write into a file of its successor.
 */
export class AuditFiles {
  readonly #directory: string;
  readonly #keyRing: KeyRing;
  readonly #epoch: number;
  readonly #ends = new Map<AuditClass, FileEnd>();
  readonly #firsts = new Map<AuditClass, string>();
  /** Sizes, before this step, of the files that it writes. */
  readonly #sizesBefore = new Map<string, number>();

  private constructor(directory: string, keyRing: KeyRing, epoch: number) {
    this.#directory = directory;
    this.#keyRing = keyRing;
    this.#epoch = epoch;
  }

  /**
   * Sets aside what an earlier process wrote without recording it: its entries are still in the streams and are moved again.
   * It is renamed, not deleted, because Redis may have lost the positions instead.
   */
  static async open(
    directory: string,
    keyRing: KeyRing,
    { epoch, positions }: { epoch: number; positions: Readonly<Record<string, string>> },
  ): Promise<AuditFiles> {
    await mkdir(directory, { recursive: true, mode: OWNER_ONLY_FOLDER });
    const files = new AuditFiles(directory, keyRing, epoch);
    const present = new Set(await readdir(directory));
    for (const kind of AUDIT_CLASSES) {
      const end = readEnd(positions[endField(kind)]);
      if (!end) {
        // One file and no position: its writer was killed before it recorded the first one.
        const [only, ...more] = await filesOf(directory, kind);
        if (only !== undefined && more.length === 0) await setAside(directory, only, epoch);
        continue;
      }
      files.#ends.set(kind, end);
      files.#firsts.set(kind, positions[firstField(kind)] ?? end.file);
      // A missing file is a break that `audit verify` reports; the record goes on.
      if (present.has(end.file)) await cutOff(join(directory, end.file), end.bytes, epoch);
      for (const file of await filesOf(directory, kind)) if (file > end.file) await setAside(directory, file, epoch);
    }
    return files;
  }

  /** Appends records and waits until the disk has them. @returns the positions to record */
  async append(kind: AuditClass, records: readonly object[], day: string): Promise<Record<string, string>> {
    const key = chainKey(this.#keyRing);
    const before = this.#ends.get(kind);
    const lastDay = before === undefined ? day : dayOfFile(before.file);
    // A clock that was set back must not change the order of the files.
    const name = fileName(kind, day < lastDay ? lastDay : day, this.#epoch);
    let hash = before?.hash ?? '';
    let text = '';
    const add = (record: object) => {
      const chained = chainLine(key, hash, record);
      text += chained.line;
      hash = chained.hash;
    };
    const isNew = before?.file !== name;
    if (isNew) add({ file: name, key: this.#keyRing.currentKeyId, follows: before ?? null } satisfies FileHead);
    for (const record of records) add(record);
    const bytes = isNew ? 0 : before.bytes;
    const path = join(this.#directory, name);
    this.#sizesBefore.set(path, bytes);
    const file = await open(path, isNew ? 'w' : 'r+', OWNER_ONLY);
    try {
      const written = Buffer.from(text);
      await file.truncate(bytes);
      // A nearly full disk takes only a part, and refuses the rest.
      for (let at = 0; at < written.length;)
        at += (await file.write(written, at, written.length - at, bytes + at)).bytesWritten;
      await file.datasync();
      const lines = (isNew ? 1 : before.lines) + records.length;
      const end: FileEnd = { file: name, bytes: bytes + written.length, lines, hash };
      this.#ends.set(kind, end);
      const first = this.#firsts.get(kind) ?? name;
      this.#firsts.set(kind, first);
      return { [endField(kind)]: JSON.stringify(end), [firstField(kind)]: first };
    } finally {
      await file.close();
    }
  }

  /** Begins a step, which writes at most once into each class. */
  begin(): void {
    this.#sizesBefore.clear();
  }

  /** Removes what a failed step has written. The files cannot be used after that. */
  async takeBack(): Promise<void> {
    for (const [path, bytes] of this.#sizesBefore) await truncate(path, bytes).catch(() => undefined);
  }

  /**
   * Deletes the oldest files of a class whose day is before `day`. @param isKept whether a file must stay; the files after it
   * stay too, because the chain has no gaps
   * @returns the positions to record before the files are deleted, and the deletion
   */
  async expired(
    kind: AuditClass,
    day: string,
    isKept: (path: string) => Promise<boolean>,
  ): Promise<{ positions: Record<string, string>; remove(): Promise<void> }> {
    const files = await filesOf(this.#directory, kind);
    const last = this.#ends.get(kind)?.file;
    const gone: string[] = [];
    for (const file of files) {
      if (file === last || dayOfFile(file) >= day || (await isKept(join(this.#directory, file)))) break;
      gone.push(file);
    }
    const first = files[gone.length];
    if (gone.length === 0 || first === undefined) return { positions: {}, remove: async () => undefined };
    this.#firsts.set(kind, first);
    return {
      positions: { [firstField(kind)]: first },
      remove: async () => {
        for (const file of gone) await unlink(join(this.#directory, file));
      },
    };
  }
}

async function setAside(directory: string, file: string, epoch: number): Promise<void> {
  await rename(join(directory, file), join(directory, `${file}.${epoch}${UNRECORDED}`));
}

async function cutOff(path: string, bytes: number, epoch: number): Promise<void> {
  if ((await stat(path)).size <= bytes) return;
  await copyFile(path, `${path}.${epoch}${UNRECORDED}`);
  await truncate(path, bytes);
}

/** The files of a class, oldest first. None if there is no folder yet. */
export async function filesOf(directory: string, kind: AuditClass): Promise<string[]> {
  const present = await readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  return present.filter((file) => file.startsWith(`${kind}.`) && file.endsWith('.jsonl')).sort();
}
