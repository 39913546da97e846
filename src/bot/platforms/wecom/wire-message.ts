import { z } from 'zod';

/** What WeCom says in a callback, after decryption; unknown fields are left out. Only what Parley reads is named. */

const shortText = z.string().min(1).max(512);
const address = z.string().min(1).max(4_096);
const text = z.object({ content: z.string() });
/** Over the connection each file has a key of its own. */
const key = z.string().max(512).optional().catch(undefined);
const media = z
  .object({ url: address, aeskey: key, aes_key: key, filename: z.string().max(512).optional().catch(undefined) })
  .transform(({ aes_key: other, ...fields }) => ({ ...fields, aeskey: fields.aeskey ?? other }));

const textContent = z.object({ msgtype: z.literal('text'), text });
const imageContent = z.object({ msgtype: z.literal('image'), image: media });
const voiceContent = z.object({ msgtype: z.literal('voice'), voice: text });
/** The name is told with the bytes; where a message has one, it counts. */
const fileContent = z.object({ msgtype: z.literal('file'), file: media });
const videoContent = z.object({ msgtype: z.literal('video'), video: media });
const mixedContent = z.object({
  msgtype: z.literal('mixed'),
  mixed: z.object({
    msg_item: z.array(z.unknown()).min(1).max(100),
  }),
});

/** The kinds of message that a person can send or quote. */
export const wireContent = z.discriminatedUnion('msgtype', [
  textContent,
  imageContent,
  voiceContent,
  fileContent,
  videoContent,
  mixedContent,
]);
export type WireContent = z.infer<typeof wireContent>;

/** What every callback has. `chattype` is absent from some events, which happen in private chats. */
export const wireEnvelope = z.object({
  msgid: shortText,
  chattype: z.enum(['single', 'group']).default('single'),
  chatid: shortText.optional(),
  from: z.object({ userid: shortText }),
  response_url: address.optional().catch(undefined),
  msgtype: shortText,
  quote: z.unknown().optional(),
});
export type WireEnvelope = z.infer<typeof wireEnvelope>;

export const wirePoll = z.object({ stream: z.object({ id: shortText }) });

/** Which answer, what is thought of it, and why: codes of reasons, and words. */
const feedback = z.object({
  id: shortText.optional().catch(undefined),
  type: z.number().optional().catch(undefined),
  content: z.string().optional().catch(undefined),
  inaccurate_reason_list: z.array(z.number()).max(20).optional().catch(undefined),
});

export type WireFeedback = z.infer<typeof feedback>;

/** The feedback's fields are shown both in an object of their own and beside the event's type. */
export const wireEvent = z.object({
  event: feedback.extend({
    eventtype: shortText,
    feedback_event: feedback.optional().catch(undefined),
  }),
});
