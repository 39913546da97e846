import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { formatZodIssue } from '../../shared/text/format-zod-error.ts';
import { SOURCE_KINDS, type SourceDefinition } from './source-kinds.ts';

/** The content of `KNOWLEDGE_FILE`: the document sources and their readers. */
export interface KnowledgeFile {
  sources: readonly SourceDefinition[];
}

/** All folders share one index, but each remote source costs a request per search. */
const MAX_SOURCES = 50;

/**
 * Parses the text of `KNOWLEDGE_FILE`.
 * @param path location of the file; relative paths in it are resolved against its folder
 * @throws ConfigFileError with all errors
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
      /** A comment for readers of the file, because JSON has none. */
      about: z.union([z.string(), z.array(z.string())]).optional(),
      sources: z
        .array(sourceSchema(atPath))
        .max(MAX_SOURCES)
        .superRefine((sources, context) => {
          for (const [index, { name }] of sources.entries())
            if (sources.findIndex((other) => other.name === name) < index)
              context.addIssue({
                code: 'custom',
                path: [index, 'name'],
                message: 'An earlier source has the same name',
              });
        }),
    })
    .transform(({ sources }) => ({ sources }));
}

/** The kind of a source is determined by its field, and errors are reported for that kind. */
function sourceSchema(atPath: (written: string) => string): z.ZodType<SourceDefinition> {
  const fields = SOURCE_KINDS.map(({ field }) => JSON.stringify(field)).join(', ');
  return z.record(z.string(), z.unknown()).transform((written, context) => {
    const kinds = SOURCE_KINDS.filter(({ field }) => Object.hasOwn(written, field));
    const [kind] = kinds;
    if (!kind || kinds.length > 1) {
      context.addIssue({ code: 'custom', message: `Must have one of ${fields}` });
      return z.NEVER;
    }
    const read = kind.schema(atPath).safeParse(written, { error: formatZodIssue });
    if (read.success) return read.data;
    for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });
}
