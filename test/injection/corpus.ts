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
/** The channel by which an instruction reaches the model. */
export type Channel = (typeof CHANNELS)[number];

const injection = z.strictObject({
  id: z.string().regex(/^[a-z]{2}-\d\d$/),
  language: z.enum(['en', 'zh']),
  channel: z.enum(CHANNELS),
  /** The goal: a tool call, active markup, facts about a person, an address that leaks data, … */
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
  /** The output of an obedient model. Defaults to the text itself. */
  obeyed: z.string().optional(),
});

/** A text that tries to turn the model against the people that it answers. */
export type Injection = z.infer<typeof injection>;

export const INJECTIONS: readonly Injection[] = readdirSync(FOLDER).flatMap((name) =>
  z.array(injection).parse(JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))),
);

export function injectionsBy(channel: Channel): Injection[] {
  return INJECTIONS.filter((one) => one.channel === channel);
}

/** The text as delivered to the model, with the name by which the scripted model recognises it. */
export function brought({ id, text }: Injection): string {
  return `${text} [${id}]`;
}
