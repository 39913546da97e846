import { z } from 'zod';
import { readJsonFile } from '../json-file.ts';

/** Source of a value: a claim's name, a fixed value, or a list of these, of which the first with a value is used. */
const oneSourceSchema = z.union([z.string().min(1), z.strictObject({ value: z.string() })]);
const sourceSchema = z
  .union([oneSourceSchema, z.array(oneSourceSchema).min(1)])
  .transform((source) => (Array.isArray(source) ? source : [source]));

export type ClaimSource = z.output<typeof sourceSchema>;

/** Identity types of the interface (SERVICE.md profile). */
const identityCode = z.enum(['JG', 'XS', 'QT']);

const fileSchema = z.strictObject({
  /** `username` in the directory file. */
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
      /** Highest priority first, for a person with several. */
      codes: z.record(z.string(), identityCode),
      otherwise: identityCode.default('QT'),
    })
    .optional(),
  /** Display names of the three types. */
  identityNames: z.partialRecord(identityCode, z.string().min(1)).optional(),
  /** A person with one of these values is inactive. */
  inactive: z.strictObject({ from: sourceSchema, values: z.array(z.string()).min(1) }).optional(),
});

/** Maps an institution's claims to the fields of a profile. A field that is not listed falls back to a common claim. */
export type ProfileMap = z.output<typeof fileSchema>;

/** Parses the text of `SERVICE_PROFILE_MAP_FILE`. @throws ConfigFileError */
export function parseProfileMapFile(text: string): ProfileMap {
  return readJsonFile(text, fileSchema);
}
