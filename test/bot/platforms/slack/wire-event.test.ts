import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { readEnvelopeFields, readMessageFields } from '../../../../src/bot/platforms/slack/wire-event.ts';
import { tries } from '../../../support/tries.ts';

function maybe<Output, Input>(schema: z.ZodType<Output, Input>) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const id = z.string().min(1).max(64);
const ts = z.string().regex(/^\d{1,16}\.\d{1,9}$/);

const fileSchema = z.object({
  id: lenient(z.string().max(64)),
  file_access: lenient(z.string().max(64)),
  name: lenient(z.string().max(1_000)),
  mimetype: lenient(z.string().max(200)),
  url_private_download: lenient(z.string().max(4_000)),
  url_private: lenient(z.string().max(4_000)),
  mode: lenient(z.string().max(64)),
  is_external: z
    .unknown()
    .optional()
    .transform((value) => value === true),
  plain_text: lenient(z.string()),
});

const messageSchema = z.object({
  type: z.enum(['message', 'app_mention']),
  subtype: maybe(z.string()),
  channel_type: maybe(z.string()),
  channel: id,
  user: maybe(id),
  bot_id: maybe(z.string()),
  user_team: maybe(id),
  text: maybe(z.string()),
  ts,
  thread_ts: maybe(ts.or(z.literal('').transform(() => undefined))),
  files: z.array(fileSchema.catch(() => fileSchema.parse({}))).catch([]),
  attachments: maybe(z.unknown()),
  blocks: maybe(z.unknown()),
});

/** A field that is left out when it is invalid. */
function lenient<Shape extends z.ZodType>(shape: Shape) {
  return shape.optional().catch(undefined);
}

const envelopeSchema = z
  .object({
    type: z.string(),
    challenge: z.string().max(4_000).optional(),
    team_id: maybe(id),
    authorizations: maybe(z.array(z.object({ user_id: maybe(id) }))),
    event: z.unknown().optional(),
  })
  .transform(({ authorizations, ...rest }) => ({
    ...rest,
    ownIds: (authorizations ?? []).flatMap(({ user_id: own }) => own ?? []),
  }));

/** Invalid field values: missing, empty or of another type. `often` yields one in 13 values. */
const wrong = fc.oneof(fc.constantFrom(null, undefined, '', 7, true, [], {}), fc.jsonValue());
const often = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: wrong });
const text = (maxChars: number) =>
  fc.oneof(
    fc.string(),
    fc.integer({ min: maxChars - 1, max: maxChars + 1 }).map((chars) => 'x'.repeat(chars)),
  );
const anyTs = fc.oneof(
  fc.constantFrom('1760000001.000100', '1.1', '1', '1.', '.1', '1760000001.0001000000', ' 1.1', '1.1\n'),
);
const rightTs = fc.oneof({ weight: 6, arbitrary: fc.constant('1760000001.000100') }, anyTs);

const anyFile = fc.record(
  {
    id: often(text(64)),
    file_access: often(text(64)),
    name: often(text(1_000)),
    mimetype: often(text(200)),
    url_private_download: often(text(4_000)),
    url_private: often(text(4_000)),
  },
  { requiredKeys: [] },
);
const anyMessage = fc.record(
  {
    type: often(fc.constantFrom('message', 'app_mention', 'reaction_added')),
    subtype: often(fc.string()),
    channel_type: often(fc.constantFrom('im', 'channel')),
    channel: often(text(64)),
    user: often(text(64)),
    bot_id: often(fc.string()),
    user_team: often(text(64)),
    text: often(fc.string()),
    ts: often(rightTs),
    thread_ts: often(rightTs),
    files: often(fc.array(often(anyFile), { maxLength: 3 })),
    more: fc.jsonValue(),
  },
  { requiredKeys: ['type', 'channel', 'ts'] },
);
const anyEnvelope = fc.record(
  {
    type: often(fc.constantFrom('event_callback', 'url_verification')),
    challenge: often(text(4_000)),
    team_id: often(text(64)),
    authorizations: often(
      fc.array(often(fc.record({ user_id: often(text(64)) }, { requiredKeys: [] })), { maxLength: 3 }),
    ),
    event: fc.jsonValue(),
  },
  { requiredKeys: ['type'] },
);

function expectSame(read: unknown, schema: z.ZodType, given: unknown): boolean {
  const expected = schema.safeParse(given);
  if (expected.success) expect(read).toEqual(expected.data);
  else expect(read).toBeUndefined();
  return expected.success;
}

test('readMessageFields accepts and refuses the same fields as its schema', () => {
  let taken = 0;
  fc.assert(
    fc.property(anyMessage, (event) => {
      if (expectSame(readMessageFields(event), messageSchema, event)) taken += 1;
    }),
    { numRuns: tries(3_000) },
  );
  // Otherwise the property would hardly cover accepted messages.
  expect(taken).toBeGreaterThan(tries(100));
});

test('readEnvelopeFields accepts and refuses the same fields as its schema', () => {
  fc.assert(
    fc.property(anyEnvelope, (parsed) => void expectSame(readEnvelopeFields(parsed), envelopeSchema, parsed)),
    {
      numRuns: tries(3_000),
    },
  );
});

test('readMessageFields and readEnvelopeFields return undefined for a value that is not an object', () => {
  for (const given of [null, undefined, 7, 'text', [], [{ type: 'message' }]]) {
    expect(readMessageFields(given)).toBeUndefined();
    expect(readEnvelopeFields(given)).toBeUndefined();
  }
});
