import { z } from 'zod';
import { isObject } from '../../shared/parse-json.ts';
import { listOf, must, optional, textOr } from './field-rules.ts';

const IMAGE_DATA_URL = /^data:image\/[\w.+-]+(?:;[\w=.-]+)*;base64,/i;
const WEB_ADDRESS = /^https?:\/\/./i;
const MAX_PARTS = 200;
const MAX_CALLS = 256;

const BE_TEXT = { error: must('a string') };
const BE_URL = { error: must('a data URL of a base64 image, or an http or https address') };
const BE_CALL = { error: must('an object with id, type and function') };

const imageSchema = z.object(
  {
    url: z.string(BE_URL).refine((url) => isDataUrl(url) || WEB_ADDRESS.test(url), BE_URL),
    detail: z.string().optional().catch(undefined),
  },
  { error: must('an object with a url') },
);

const textPart = z.object({ type: z.literal('text'), text: z.string(BE_TEXT) });
const imagePart = z.object({ type: z.literal('image_url'), image_url: imageSchema });

/** zod calls this both for values that are not objects and for objects of another type, and adjusts the path itself. */
const partFault = (types: string) => {
  const [beType, bePart] = [must(types), must(`an object whose type is ${types}`)];
  return ({ input }: { input?: unknown }) => (isObject(input) ? beType({ input: input['type'] }) : bePart({ input }));
};

const partSchema = z.discriminatedUnion('type', [textPart, imagePart], {
  error: partFault('text or image_url'),
});

/** The other parts of OpenAI's interface. All hold their data themselves, so the engine does not fetch anything. */
const relayedPartSchema = z.discriminatedUnion(
  'type',
  [
    textPart,
    imagePart,
    z.object({
      type: z.literal('file'),
      file: z.object(
        {
          file_data: optional(z.string(BE_TEXT).refine((data) => !WEB_ADDRESS.test(data), { error: must('data') })),
          file_id: optional(z.string(BE_TEXT)),
          filename: optional(z.string(BE_TEXT)),
        },
        { error: must('an object with file_data or file_id') },
      ),
    }),
    z.object({
      type: z.literal('input_audio'),
      input_audio: z.object(
        { data: z.string(BE_TEXT), format: z.string(BE_TEXT) },
        { error: must('an object with data and format') },
      ),
    }),
    z.object({ type: z.literal('refusal'), refusal: z.string(BE_TEXT) }),
  ],
  { error: partFault('text, image_url, file, input_audio or refusal') },
);

const BE_CONTENT = `a string or a list of 1 to ${MAX_PARTS} content parts`;

const toolCallSchema = z.object(
  {
    id: z.string(BE_TEXT),
    type: optional(z.literal('function', { error: must('function') })).transform((type) => type ?? 'function'),
    function: z.object(
      { name: z.string(BE_TEXT), arguments: z.string({ error: must('a string of JSON') }) },
      { error: must('an object with name and arguments') },
    ),
  },
  BE_CALL,
);

/** A request by the model to call one function; `arguments` is JSON text. */
export type ToolCall = z.infer<typeof toolCallSchema>;

/** A call of a tool of the type `custom`, whose input is free text. */
const customCallSchema = z.object({
  id: z.string(BE_TEXT),
  type: z.literal('custom'),
  custom: z.object(
    { name: z.string(BE_TEXT), input: z.string(BE_TEXT) },
    { error: must('an object with name and input') },
  ),
});

const relayedCallSchema = z.unknown().transform((value, context) => {
  const schema = isObject(value) && value['type'] === 'custom' ? customCallSchema : toolCallSchema;
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues)
    context.issues.push({ code: 'custom', path: [...path], message, input: undefined });
  return z.NEVER;
});

const oneOf = <S extends z.ZodType>(part: S) =>
  optional(textOr(listOf(part, { min: 1, max: MAX_PARTS, be: BE_CONTENT })));
// A response may have an empty list of calls that is sent back in the next request. It means the same as none.
const callsOf = <S extends z.ZodType>(call: S) =>
  optional(listOf(call, { max: MAX_CALLS, be: `a list of at most ${MAX_CALLS} tool calls` }));

/** Other fields are not relayed (SECURITY.md relayed-fields). */
const fieldsSchema = z.object(
  {
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool'], {
      error: must('system, developer, user, assistant or tool'),
    }),
    content: oneOf(partSchema),
    tool_calls: callsOf(toolCallSchema),
    tool_call_id: optional(z.string(BE_TEXT)),
    name: optional(z.string(BE_TEXT)),
    // From an earlier answer: clients send back what they received, and some engines require the reasoning of their last
    // call.
    reasoning_content: z.string().optional().catch(undefined),
    refusal: z.string().optional().catch(undefined),
    audio: z.object({ id: z.string() }).optional().catch(undefined),
  },
  { error: must('an object with role and content') },
);

const filled = <T>(calls: T[] | undefined) => (calls?.length ? calls : undefined);

const NO_CONTENT = { path: ['content'], error: must(BE_CONTENT)({}) };

/** A message as it is specified, for the built-in model. */
export const messageSchema = fieldsSchema
  .transform((message) => ({ ...message, content: message.content ?? null, tool_calls: filled(message.tool_calls) }))
  .refine(
    ({ role, content, tool_calls: calls }) => content !== null || (role === 'assistant' && calls !== undefined),
    NO_CONTENT,
  );

/** A message for an engine: also with files, audio and calls of custom tools, and an assistant's without content. */
export const relayedMessageSchema = fieldsSchema
  .extend({ content: oneOf(relayedPartSchema), tool_calls: callsOf(relayedCallSchema) })
  .transform((message) => ({ ...message, content: message.content ?? null, tool_calls: filled(message.tool_calls) }))
  .refine(({ role, content }) => content !== null || role === 'assistant', NO_CONTENT);

/** One message of the conversation. `tool` messages contain a tool's result. */
export type ChatMessage = z.infer<typeof messageSchema> | z.infer<typeof relayedMessageSchema>;

/** The text of the message; parts are joined by line breaks. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** URLs of the message's images. */
export function imagesOf({ content }: ChatMessage): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
}

/** The name of the called tool. */
export function calledName(call: NonNullable<ChatMessage['tool_calls']>[number]): string {
  return call.type === 'custom' ? call.custom.name : call.function.name;
}

export function isDataUrl(url: string): boolean {
  return IMAGE_DATA_URL.test(url);
}
