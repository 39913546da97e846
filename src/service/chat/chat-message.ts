import { z } from 'zod';
import { listOf, must, optional, textOr } from './field-rules.ts';

const IMAGE_DATA_URL = /^data:image\/[\w.+-]+(?:;[\w=.-]+)*;base64,/i;
const WEB_ADDRESS = /^https?:\/\/./i;
const MAX_PARTS = 200;
const MAX_CALLS = 256;

const BE_TEXT = { error: must('a string') };
const BE_PART = must('an object whose type is text or image_url');
const BE_PART_TYPE = must('text or image_url');
const BE_URL = { error: must('a data URL of a base64 image, or an http or https address') };
const BE_CALL = { error: must('an object with id, type and function') };

const imageSchema = z.object(
  {
    url: z.string(BE_URL).refine((url) => isDataUrl(url) || WEB_ADDRESS.test(url), BE_URL),
    detail: z.string().optional().catch(undefined),
  },
  { error: must('an object with a url') },
);

const partSchema = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string(BE_TEXT) }),
    z.object({ type: z.literal('image_url'), image_url: imageSchema }),
  ],
  {
    // zod calls this both for values that are not objects and for objects of another type, and adjusts the path itself.
    error: ({ input }) => (isObject(input) ? BE_PART_TYPE({ input: input['type'] }) : BE_PART({ input })),
  },
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

/** Other fields are not relayed (SECURITY.md relayed-fields). */
export const messageSchema = z
  .object(
    {
      role: z.enum(['system', 'developer', 'user', 'assistant', 'tool'], {
        error: must('system, developer, user, assistant or tool'),
      }),
      content: optional(textOr(listOf(partSchema, { min: 1, max: MAX_PARTS, be: BE_CONTENT }))),
      // A response may have an empty list of calls that is sent back in the next request. It means the same as none.
      tool_calls: optional(listOf(toolCallSchema, { max: MAX_CALLS, be: `a list of at most ${MAX_CALLS} tool calls` })),
      tool_call_id: optional(z.string(BE_TEXT)),
      name: optional(z.string(BE_TEXT)),
      // From an earlier answer: clients send back what they received, and some engines require the reasoning of their last
      // call.
      reasoning_content: z.string().optional().catch(undefined),
      refusal: z.string().optional().catch(undefined),
      audio: z.object({ id: z.string() }).optional().catch(undefined),
    },
    { error: must('an object with role and content') },
  )
  .transform((message) => ({
    ...message,
    content: message.content ?? null,
    tool_calls: message.tool_calls?.length ? message.tool_calls : undefined,
  }))
  .refine(({ role, content, tool_calls: calls }) => content !== null || (role === 'assistant' && calls !== undefined), {
    path: ['content'],
    error: must(BE_CONTENT)({}),
  });

/** One message of the conversation. `tool` messages contain a tool's result. */
export type ChatMessage = z.infer<typeof messageSchema>;

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

export function isDataUrl(url: string): boolean {
  return IMAGE_DATA_URL.test(url);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
