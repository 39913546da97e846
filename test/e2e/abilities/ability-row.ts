import type { PlatformHere } from '../../support/both-platforms.ts';

/** A whole text, or a part of one. */
export type Pattern = string | RegExp;

/** What a person reads in one language and the other. */
export interface Read {
  en: Pattern;
  zh: Pattern;
}

/** The same on each platform, unless told. */
export type ReadHere = Read | Record<PlatformHere, Read>;

/** Something that a person says, and what comes of it. */
export interface Step {
  says: { en: string; zh: string };
  /** By a second person, in whichever language; the asker unless told. */
  by?: 'neighbour';
  /** In the group, with a mention; in the private chat unless told. */
  in?: 'group';
  /** Without the mention: it is meant for the others, and nothing comes of it. */
  isUnaddressed?: true;
  /** Widths of the pictures that come with it, 20 pixels high. */
  pictures?: readonly (number | 'damaged')[];
  /** Quotes the first message of its row. */
  quotesFirst?: true;
  /** So long after what was said before. */
  afterMs?: number;
  /** What comes instead of an answer until the person has signed in, and what then is told of the sign-in. */
  signsIn?: { first: Read; told: Read };
  /** What stands apart from the text while a tool works, which ends only once this was seen. */
  doing?: Read;
  /** Said one after the other once the answer has begun to grow. */
  meanwhile?: readonly Step[];
  /** The answer; empty where there must be none. */
  reads: ReadHere;
  /** What stood apart from the text at some time: in WeCom's thinking block, in Slack's status line or small print. */
  apart?: ReadHere;
  /** What nobody ever saw of this answer. */
  hides?: RegExp;
  /** The model that answered. */
  model?: 'svc-plus' | 'svc-max';
}

/** One ability, as the first thing of a conversation. `{web}` in what is said is the address of the web that tools can reach. */
export interface AbilityRow {
  name: string;
  /** Where only one platform has it. */
  only?: PlatformHere;
  steps: readonly Step[];
}

/** In both languages the same. */
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
  reads: { en: /^A new conversation starts here/, zh: /^新的对话开始了/ },
};
