import { z } from 'zod';
import { formatIssuePath } from '../text/format-zod-error.ts';
import { SECOND_MS } from '../clock.ts';
import { ConfigFileError, readJsonFile } from '../json-file.ts';
import { headersSchema, needsSecret } from './engine-headers.ts';
import { plainModel, type ModelEntry } from './model-entry.ts';

const word = z.string().regex(/^[^\s\p{Cc}]{1,200}$/u, 'must be a name without spaces, of at most 200 characters');
const tokens = z.number().int().min(1).max(100_000_000);
const price = z.number().min(0).max(1_000_000);
const currency = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code such as CNY or USD');
const seconds = z.number().int().min(1).max(600);
const SECRET_LACKS = 'needs MODELS_SECRET, which is not set';
/** OpenAI's level names; used for an entry that lists no levels. */
const DEFAULT_LEVELS = ['low', 'medium', 'high'];

const entrySchema = z.strictObject({
  name: word,
  label: z.string().trim().min(1).max(80).optional(),
  upstream: word.optional(),
  images: z.boolean().optional(),
  tools: z.boolean().optional(),
  thinking: z.enum(['none', 'thinking', 'reasoning_effort', 'enable_thinking', 'chat_template_kwargs']).optional(),
  levels: z.array(word).max(16).optional(),
  thoughtFirst: z.boolean().optional(),
  roles: z.array(z.enum(['system', 'tool'])).optional(),
  contextTokens: tokens.optional(),
  answerTokens: tokens.optional(),
  firstByteSec: seconds.optional(),
  idleSec: seconds.optional(),
  temperature: z
    .tuple([z.number().min(0), z.number().max(100)])
    .refine(([min, max]) => min < max, 'must be the minimum and the maximum temperature, in that order')
    .optional(),
  defaults: z
    .strictObject({ temperature: z.number().min(0).optional(), topP: z.number().min(0).max(1).optional() })
    .optional(),
  omit: z.array(word).max(64).optional(),
  price: z.strictObject({ prompt: price, completion: price, currency }).optional(),
  headers: headersSchema.optional(),
});

const fileSchema = z.array(entrySchema).superRefine((entries, context) => {
  const seen = new Set<string>();
  for (const [index, { name }] of entries.entries()) {
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is listed twice' });
    seen.add(name);
  }
});

/**
 * Parses the text of the file at `MODELS_FILE`: a JSON array of models, with one schema for the bot and the service
 * (SETTINGS.md).
 * @param hasSecret whether MODELS_SECRET is set, which the headers may refer to
 * @throws ConfigFileError with every fault
 */
export function parseModelsFile(text: string, { hasSecret = false } = {}): ModelEntry[] {
  const entries = readModelsFile(text);
  const lacking = entries.flatMap(({ headers = {} }, index) =>
    needsSecret(headers) && !hasSecret ? [`${formatIssuePath([index, 'headers'])}: ${SECRET_LACKS}`] : [],
  );
  if (lacking.length > 0) throw new ConfigFileError('file_invalid', lacking);
  return entries.map(applyDefaults);
}

/** An entry as written in the file. */
export type ModelFileEntry = z.infer<typeof entrySchema>;

/** Parses the entries without applying defaults. @throws ConfigFileError with every fault */
export function readModelsFile(text: string): ModelFileEntry[] {
  return readJsonFile(text, fileSchema);
}

/** Applies all defaults to an entry. */
export function applyDefaults(written: ModelFileEntry): ModelEntry {
  const plain = plainModel(written.name);
  const thinking = written.thinking ?? plain.thinking;
  const words = written.levels ?? (thinking === 'reasoning_effort' ? DEFAULT_LEVELS : []);
  const [min, max] = written.temperature ?? [plain.temperature.min, plain.temperature.max];
  return {
    name: written.name,
    label: written.label ?? plain.label,
    upstream: written.upstream ?? plain.upstream,
    seesImages: written.images ?? plain.seesImages,
    callsTools: written.tools ?? plain.callsTools,
    thinking,
    levels: words.filter((level) => level !== 'none'),
    hasNoneLevel: words.includes('none'),
    thoughtFirst: written.thoughtFirst ?? (thinking === 'none' && thinksFirstByName(written)),
    roles: written.roles ? new Set(written.roles) : plain.roles,
    contextTokens: written.contextTokens,
    answerTokens: written.answerTokens,
    firstByteMs: inMs(written.firstByteSec),
    idleMs: inMs(written.idleSec),
    temperature: { min, max },
    defaults: written.defaults ?? plain.defaults,
    omit: new Set(written.omit),
    price: written.price,
    headers: written.headers ?? plain.headers,
  };
}

/** An engine that accepts a field for thinking also returns the reasoning in a field. */
function thinksFirstByName({ name, upstream = '' }: ModelFileEntry): boolean {
  return plainModel(name).thoughtFirst || plainModel(upstream).thoughtFirst;
}

function inMs(sec: number | undefined): number | undefined {
  return sec === undefined ? undefined : sec * SECOND_MS;
}
