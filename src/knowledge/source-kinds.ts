import { z } from 'zod';
import { readersSchema, type Readers } from './readers.ts';

/** What every source has. */
interface SourceCommon {
  /** By this people, scenes and the log know it. */
  name: string;
  /** Who may read its documents where these say nothing themselves; `nobody` where the file names no readers. */
  readers: Readers;
}

/** A folder of documents on this machine, with its sub-folders. */
export interface FolderDefinition extends SourceCommon {
  kind: 'folder';
  /** Absolute. */
  folder: string;
  /** Where its documents are to be read: their path is added to it. Ends in `/`. */
  url?: string;
}

/** A source as `KNOWLEDGE_FILE` describes it. */
export type SourceDefinition = FolderDefinition;

/** A kind of source: the field by which it is known, and what else it has. */
export interface SourceKind {
  field: string;
  /** @param atPath makes a path of the file absolute */
  schema(atPath: (written: string) => string): z.ZodType<SourceDefinition>;
}

const MOST_NAME_CHARS = 80;

const common = {
  name: z.string().trim().min(1).max(MOST_NAME_CHARS),
  readers: readersSchema.default('nobody'),
};

const baseAddress = z
  .string()
  .refine(isWebAddress, 'Must be an https or http address without user, query or fragment')
  .transform((given) => new URL(given).href.replace(/\/*$/, '/'));

const folder: SourceKind = {
  field: 'folder',
  schema: (atPath) =>
    z
      .strictObject({ ...common, folder: z.string().min(1).transform(atPath), url: baseAddress.optional() })
      .transform((given) => ({ kind: 'folder' as const, ...given })),
};

/** The kinds that there are, one line each. */
export const SOURCE_KINDS: readonly SourceKind[] = [
  folder, //
];

function isWebAddress(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, username, password, search, hash } = new URL(given);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '');
}
