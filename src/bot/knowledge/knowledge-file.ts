import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { inOurWords } from '../../shared/text/format-zod-error.ts';
import { SOURCE_KINDS, type SourceDefinition } from './source-kinds.ts';

/** What `KNOWLEDGE_FILE` says: from where the institution's documents come, and who may read them. */
export interface KnowledgeFile {
  sources: readonly SourceDefinition[];
}

/** A folder's index is searched at once for all; a hundred institutions' services are not asked side by side. */
const MOST_SOURCES = 50;

/**
 * Reads `KNOWLEDGE_FILE`'s text. @param path where it stands: relative paths in it begin in its folder
 * @throws ConfigFileError with every fault
 */
export function parseKnowledgeFile(text: string, path: string): KnowledgeFile {
  const folder = dirname(path);
  return readJsonFile(
    text,
    fileSchema((written) => resolve(folder, written)),
  );
}

function fileSchema(atPath: (written: string) => string): z.ZodType<KnowledgeFile> {
  return z
    .strictObject({
      /** Words for who reads the file, since JSON has no comments. */
      about: z.union([z.string(), z.array(z.string())]).optional(),
      sources: z
        .array(sourceSchema(atPath))
        .max(MOST_SOURCES)
        .superRefine((sources, context) => {
          for (const [index, { name }] of sources.entries())
            if (sources.findIndex((other) => other.name === name) < index)
              context.addIssue({
                code: 'custom',
                path: [index, 'name'],
                message: 'There is a source of this name before it',
              });
        }),
    })
    .transform(({ sources }) => ({ sources }));
}

/** A source is of the kind whose field it has, and faults are told of that kind. */
function sourceSchema(atPath: (written: string) => string): z.ZodType<SourceDefinition> {
  const fields = SOURCE_KINDS.map(({ field }) => JSON.stringify(field)).join(', ');
  return z.record(z.string(), z.unknown()).transform((written, context) => {
    const kinds = SOURCE_KINDS.filter(({ field }) => Object.hasOwn(written, field));
    const [kind] = kinds;
    if (!kind || kinds.length > 1) {
      context.addIssue({ code: 'custom', message: `Must have one of ${fields}` });
      return z.NEVER;
    }
    const read = kind.schema(atPath).safeParse(written, { error: inOurWords });
    if (read.success) return read.data;
    for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });
}
