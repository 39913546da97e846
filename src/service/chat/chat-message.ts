import { z } from 'zod';

const IMAGE_DATA_URL = /^data:image\/[\w.+-]+(?:;[\w=.-]+)*;base64,/i;
const MAX_PARTS = 200;

const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({
      url: z
        .string()
        .refine(
          (url) => IMAGE_DATA_URL.test(url) || /^https?:\/\/./i.test(url),
          'Expected a data URL of a base64 image, or an http address',
        ),
    }),
  }),
]);

/** A text or image part of a message's content. */
export type ContentPart = z.infer<typeof partSchema>;

/** A string or a list of parts; a union in zod would report the whole content instead of the part at fault. */
const contentSchema = z.unknown().transform((value, context): string | ContentPart[] | null => {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  const parts = z.array(partSchema).max(MAX_PARTS).safeParse(value);
  if (parts.success) return parts.data;
  for (const { path, message } of parts.error.issues)
    context.issues.push({ code: 'custom', path, message, input: undefined });
  return z.NEVER;
});

const toolCallSchema = z.object({
  id: z.string(),
  type: z.literal('function').default('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

/** A request by the model to call one function; `arguments` is JSON text. */
export type ToolCall = z.infer<typeof toolCallSchema>;

export const messageSchema = z
  .object({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: contentSchema.optional(),
    tool_calls: z.array(toolCallSchema).optional(),
    tool_call_id: z.string().optional(),
    name: z.string().optional(),
  })
  .superRefine((message, context) => {
    const mayBeEmpty = message.role === 'assistant' && (message.tool_calls?.length ?? 0) > 0;
    if ((message.content === null || message.content === undefined) && !mayBeEmpty) {
      context.addIssue({ code: 'custom', path: ['content'], message: 'Expected a string or a list of content parts' });
    }
  });

/** One message of the conversation. `tool` carries a tool's result. */
export type ChatMessage = z.infer<typeof messageSchema>;

/** The message's text; parts are joined by line breaks. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** The addresses of the message's images. */
export function imagesOf({ content }: ChatMessage): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
}
