import { z } from 'zod';

/** WeCom's callback content after decryption. Only the fields that Parley reads are listed; others are ignored. */

const shortText = z.string().min(1).max(512);
const address = z.string().min(1).max(4_096);
const text = z.object({ content: z.string() });
/** Over the connection each file has its own key. */
const key = z.string().max(512).optional().catch(undefined);
const media = z
  .object({ url: address, aeskey: key, aes_key: key, filename: z.string().max(512).optional().catch(undefined) })
  .transform(({ aes_key: other, ...fields }) => ({ ...fields, aeskey: fields.aeskey ?? other }));

const textContent = z.object({ msgtype: z.literal('text'), text });
const imageContent = z.object({ msgtype: z.literal('image'), image: media });
const voiceContent = z.object({ msgtype: z.literal('voice'), voice: text });
/** The file name also comes with the bytes; a name in the message takes precedence. */
const fileContent = z.object({ msgtype: z.literal('file'), file: media });
const videoContent = z.object({ msgtype: z.literal('video'), video: media });
const mixedContent = z.object({
  msgtype: z.literal('mixed'),
  mixed: z.object({
    msg_item: z.array(z.unknown()).min(1).max(100),
  }),
});

/** Message types that a person can send or quote. */
export const wireContent = z.discriminatedUnion('msgtype', [
  textContent,
  imageContent,
  voiceContent,
  fileContent,
  videoContent,
  mixedContent,
]);
export type WireContent = z.infer<typeof wireContent>;

/**
 * Fields of every callback. `chattype` is absent from some events, which occur in private chats. A null or empty field is
 * absent.
 */
export const wireEnvelope = z.object({
  msgid: shortText,
  chattype: z
    .enum(['single', 'group'])
    .nullish()
    .transform((kind) => kind ?? 'single'),
  chatid: z
    .string()
    .max(512)
    .nullish()
    .transform((id) => (id === '' ? undefined : (id ?? undefined))),
  from: z.object({ userid: shortText }),
  response_url: address.optional().catch(undefined),
  msgtype: shortText,
  quote: z.unknown().optional(),
});
export type WireEnvelope = z.infer<typeof wireEnvelope>;

export const wirePoll = z.object({ stream: z.object({ id: shortText }) });

/** The rated answer, the verdict, and its reasons: codes and a comment. */
const feedback = z.object({
  id: shortText.optional().catch(undefined),
  type: z.number().optional().catch(undefined),
  content: z.string().optional().catch(undefined),
  inaccurate_reason_list: z.array(z.number()).max(20).optional().catch(undefined),
});

export type WireFeedback = z.infer<typeof feedback>;

/** WeCom documents the feedback's fields both in a nested object and next to the event's type. */
export const wireEvent = z.object({
  event: feedback.extend({
    eventtype: shortText,
    feedback_event: feedback.optional().catch(undefined),
  }),
});
