import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
export interface Injection extends z.infer<typeof injection> {
  language: 'en' | 'zh';
  /** By the name of the file. */
  channel: Channel;
}

export const INJECTIONS: readonly Injection[] = readdirSync(FOLDER).flatMap((name) => {
  const channel = z.enum(CHANNELS).parse(basename(name, '.json').replaceAll('-', ' '));
  const all = z.array(injection).parse(JSON.parse(readFileSync(join(FOLDER, name), 'utf8')));
  return all.map((one) => ({ ...one, channel, language: /\p{Script=Han}/u.test(one.text) ? 'zh' : 'en' }));
});

export function injectionsBy(channel: Channel): Injection[] {
  return INJECTIONS.filter((one) => one.channel === channel);
}

/** The text as delivered to the model, with the name by which the scripted model recognises it. */
export function brought({ id, text }: Injection): string {
  return `${text} [${id}]`;
}
