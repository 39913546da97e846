import type { PlatformHere } from '../../support/both-platforms.ts';

/** A full text, or a pattern for part of one. */
export type Pattern = string | RegExp;

/** The expected text in each language. */
export interface Read {
  en: Pattern;
  zh: Pattern;
}

/** Either one expectation for both platforms, or one per platform. */
export type ReadHere = Read | Record<PlatformHere, Read>;

/** One message of a person, and its expected effects. */
export interface Step {
  says: { en: string; zh: string };
  /** Sent by a second person, in the same language. Defaults to the asker. */
  by?: 'neighbour';
  /** Sent in the group, with a mention. Defaults to the private chat. */
  in?: 'group';
  /** Sent without the mention, so the bot ignores it. */
  isUnaddressed?: true;
  /** Widths of the attached pictures in pixels; each is 20 pixels high. */
  pictures?: readonly (number | 'damaged')[];
  /** Quotes the first message of its row. */
  quotesFirst?: true;
  /** Time since the previous message. */
  afterMs?: number;
  /** The invitation shown before the person has signed in, and the confirmation of the sign-in. */
  signsIn?: { first: Read; told: Read };
  /** The status that the platform shows apart from the text while a tool works. The tool ends only after this was seen. */
  doing?: Read;
  /** Sent one after the other once the answer has begun to grow. */
  meanwhile?: readonly Step[];
  /** The answer; empty if there must be none. */
  reads: ReadHere;
  /** Text shown apart from the answer at some time: in WeCom's thinking block, in Slack's status line or small print. */
  apart?: ReadHere;
  /** Text that no snapshot of the answer may contain. */
  hides?: RegExp;
  /** The model that answered. */
  model?: 'svc-plus' | 'svc-max';
}

/** One ability, tested in a new conversation. `{web}` in a message is the address of the web that tools can reach. */
export interface AbilityRow {
  name: string;
  /** The only platform that has this ability. */
  only?: PlatformHere;
  steps: readonly Step[];
}

/** The same text in both languages. */
export const both = (pattern: Pattern): Read => ({ en: pattern, zh: pattern });

/** The answer to “count to 7”. */
export const NUMBERS = '1 2 3 4 5 6 7';
export const COUNT = { says: { en: 'count to 7', zh: '请数到 7' }, reads: both(NUMBERS) };
export const HELLO = {
  says: { en: 'Hello', zh: '你好' },
  reads: { en: /^Hello! I'm Parley/, zh: /^你好！我是 Parley/ },
};
export const NEW: Step = {
  says: { en: '/new', zh: '/新对话' },
  reads: { en: /^This is a new conversation/, zh: /^已开始新的对话/ },
};
