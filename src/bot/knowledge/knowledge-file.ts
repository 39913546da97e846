import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { formatZodIssue } from '../../shared/text/format-zod-error.ts';
import { plainText, type SynonymGroup } from './synonyms.ts';
import { SOURCE_KINDS, type SourceDefinition } from './source-kinds.ts';

/** The content of `KNOWLEDGE_FILE`: the document sources and their readers. */
export interface KnowledgeFile {
  sources: readonly SourceDefinition[];
  /** Groups of words of equal meaning. */
  synonyms: readonly SynonymGroup[];
}

/** All folders share one index, but each remote source costs a request per search. */
const MAX_SOURCES = 50;
/** Each group is compared with every question. */
const MAX_GROUPS = 500;
const MAX_GROUP_WORDS = 8;
const MAX_WORD_CHARS = 60;

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
      synonyms: synonymsSchema.default([]),
    })
    .transform(({ sources, synonyms }) => ({ sources, synonyms }));
}

const synonymsSchema = z
  .array(
    z
      .array(
        z
          .string()
          .trim()
          .max(MAX_WORD_CHARS)
          .regex(/[\p{L}\p{N}]/u, 'Must contain a letter or a digit'),
      )
      .min(2, 'Must have at least two words')
      .max(MAX_GROUP_WORDS),
  )
  .max(MAX_GROUPS)
  .superRefine((groups, context) => {
    const places = new Map<string, string>();
    for (const [group, words] of groups.entries())
      for (const [index, word] of words.entries()) {
        const place = places.get(plainText(word));
        if (place !== undefined)
          context.addIssue({ code: 'custom', path: [group, index], message: `Is already in ${place}` });
        places.set(plainText(word), `synonyms[${group}]`);
      }
  });

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
