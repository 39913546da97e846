import { z } from 'zod';

/** Slack says null where a field is not there, or leaves it out. */
function maybe<Output, Input>(schema: z.ZodType<Output, Input>) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const id = z.string().min(1).max(64);
/** A message's `ts` is its id in its channel: digits with six decimals, never a number (platforms/slack.md section 2). */
const ts = z.string().regex(/^\d{1,16}\.\d{1,9}$/);

/** A file of a message; what is not there for us has no address. */
const wireFile = z.object({
  name: maybe(z.string().max(1_000)),
  mimetype: maybe(z.string().max(200)),
  mode: maybe(z.string().max(64)),
  url_private_download: maybe(z.string().max(4_000)),
  url_private: maybe(z.string().max(4_000)),
});
export type WireFile = z.infer<typeof wireFile>;

/** The events that carry what a person said. */
export const wireMessage = z.object({
  type: z.enum(['message', 'app_mention']),
  subtype: maybe(z.string()),
  channel_type: maybe(z.string()),
  channel: id,
  user: maybe(id),
  bot_id: maybe(z.string()),
  user_team: maybe(id),
  text: maybe(z.string()),
  ts,
  thread_ts: maybe(ts),
  files: maybe(z.array(wireFile)),
});
export type WireMessage = z.infer<typeof wireMessage>;

export const wireEnvelope = z.object({
  type: z.string(),
  challenge: z.string().max(4_000).optional(),
  team_id: id.optional(),
  authorizations: maybe(z.array(z.object({ user_id: maybe(id) }))),
  event: z.unknown().optional(),
});
export type WireEnvelope = z.infer<typeof wireEnvelope>;

/** A slash command of the app (`/parley help`), as form fields. */
export const wireCommand = z.object({
  command: z.string().min(1).max(200),
  text: z.string().default(''),
  team_id: id,
  channel_id: id,
  user_id: id,
  trigger_id: z.string().min(1).max(200),
});

/** A click on one of our buttons. */
export const wireInteraction = z.object({
  type: z.string(),
  actions: maybe(z.array(z.object({ action_id: z.string(), value: maybe(z.string()) }))),
});
