import { z } from 'zod';
import { readJsonFile } from '../json-file.ts';

/** Where a value comes from: a claim's name, a fixed value, or several of these, of which the first that gives one counts. */
const oneSourceSchema = z.union([z.string().min(1), z.strictObject({ value: z.string() })]);
const sourceSchema = z
  .union([oneSourceSchema, z.array(oneSourceSchema).min(1)])
  .transform((source) => (Array.isArray(source) ? source : [source]));

export type ClaimSource = z.output<typeof sourceSchema>;

/** Identity types of the interface (SERVICE.md profile). */
const identityCode = z.enum(['JG', 'XS', 'QT']);

const fileSchema = z.strictObject({
  /** What the directory file calls `username`. */
  username: sourceSchema.optional(),
  id: sourceSchema.optional(),
  XM: sourceSchema.optional(),
  XGH: sourceSchema.optional(),
  BMBM: sourceSchema.optional(),
  BMMC: sourceSchema.optional(),
  objectId: sourceSchema.optional(),
  identity: z
    .strictObject({
      from: sourceSchema,
      /** In the order in which they count for somebody who is several things. */
      codes: z.record(z.string(), identityCode),
      otherwise: identityCode.default('QT'),
    })
    .optional(),
  /** What the three types are called. */
  identityNames: z.partialRecord(identityCode, z.string().min(1)).optional(),
  /** Who has one of these values is not active. */
  inactive: z.strictObject({ from: sourceSchema, values: z.array(z.string()).min(1) }).optional(),
});

/** Which of an institution's claims gives which part of a profile. A part that is not named falls back to something usual. */
export type ProfileMap = z.output<typeof fileSchema>;

/** Reads `SERVICE_PROFILE_MAP_FILE`'s text. @throws ConfigFileError */
export function parseProfileMapFile(text: string): ProfileMap {
  return readJsonFile(text, fileSchema);
}
