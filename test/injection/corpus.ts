import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const FOLDER = join('test', 'injection', 'corpus');

const CHANNELS = [
  'text',
  'image text',
  'page',
  'tool result',
  'display name',
  'quoted message',
  'group member',
] as const;
/** The way by which an instruction comes to the model. */
export type Channel = (typeof CHANNELS)[number];

const injection = z.strictObject({
  id: z.string().regex(/^[a-z]{2}-\d\d$/),
  language: z.enum(['en', 'zh']),
  channel: z.enum(CHANNELS),
  /** What it wants: a tool, a live mark, what is known of a person, an address that carries it away, … */
  tries: z.enum([
    'tool',
    'mention',
    'hidden link',
    'remote image',
    'exfiltration',
    'facts',
    'disguise',
    'label',
    'thought',
  ]),
  text: z.string().min(1),
  /** What a model writes that obeys; the text itself unless told. */
  obeyed: z.string().optional(),
});

/** A text that is made to turn the model against the people that it answers. */
export type Injection = z.infer<typeof injection>;

export const INJECTIONS: readonly Injection[] = readdirSync(FOLDER).flatMap((name) =>
  z.array(injection).parse(JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))),
);

export function injectionsBy(channel: Channel): Injection[] {
  return INJECTIONS.filter((one) => one.channel === channel);
}

/** The text as it is brought to the model, with the name by which the stand-in knows it again. */
export function brought({ id, text }: Injection): string {
  return `${text} [${id}]`;
}
