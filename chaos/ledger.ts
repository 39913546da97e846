import type { Trace } from '../src/bot/queue/read-trace.ts';

/**
 * What the testbed records during a run, for judging it afterwards (like Jepsen). All times are of the testbed's own clock,
 * in ms.
 */
export interface Ledger {
  events: SentEvent[];
  messages: VisibleMessage[];
  samplings: Sampling[];
  /** Summary requests for a conversation, which are not questions. */
  summaries: SummaryCall[];
  /** When a worker's life took over another's turn; the turn is named by its newest event. */
  resumptions: { atMs: number; worker: string; turn: number }[];
  /** Lives by the `instance` in their log lines, with which the names of their claims begin. */
  instances?: Record<string, string>;
  injectedFaults: InjectedFault[];
  /** Questions that kill every process that answers them. */
  poisons: number[];
  /** Status lines that were left at the end although there was no more activity. */
  statusesLeft?: { event: number | undefined; text: string }[];
}

export type ChatPlatform = 'wecom' | 'slack';

/** One message of a person, with every delivery attempt. */
export interface SentEvent {
  /** From 1; the question's text contains it as `Q<id>`. */
  id: number;
  platform: ChatPlatform;
  /** Number of the conversation; every text in it contains `C<number>`. */
  conversation: number;
  /** The platform's id of the message, which the product uses. */
  messageId: string;
  /** Text instead of a question: a code, or a command. */
  says?: string;
  sentAtMs: number;
  /** When it was answered with 2xx; undefined if the platform gave up before. */
  acknowledgedAtMs?: number;
  tries: { atMs: number; receiver: string; result: string }[];
  /** The product's own record of it at the end. */
  record?: { state: string; answeredBy: number | undefined; claims?: Claim[] };
  /** What `admin trace` shows for it at the end. */
  traces?: Trace[];
}

/** A worker's claim of the turn of a message. */
export interface Claim {
  atMs: number;
  /** Part of the worker's name that is the `instance` of its log lines. */
  instance: string;
}

/** One message of the bot as its people see it, with every snapshot. */
export interface VisibleMessage {
  conversation: number;
  /** The event that it belongs to: by its stream (WeCom) or its thread (Slack). */
  event: number | undefined;
  snapshots: { atMs: number; text: string }[];
  isFinal: boolean;
  /** Whether the platform itself shows it as growing. */
  isOpen?: boolean;
}

/** One model call. Every word of its text names it, so that mixed texts are detected. */
export interface Sampling {
  number: number;
  /** The worker's life that made the call: its name and start count. */
  worker: string;
  conversation: number;
  /** Questions in the call's last message. */
  asked: number[];
  /** All questions of the prompt, in order. */
  inPrompt: number[];
  /** Numbers of other conversations that occur in the prompt. */
  foreign: number[];
  startedAtMs: number;
  endedAtMs?: number;
  /** `full`: refused because too many calls were in progress, which explains no apology. */
  ending: 'open' | 'whole' | 'refused' | 'full' | 'cut' | 'stalled' | 'left';
}

/** One summary request: the conversations whose texts it contains, which must be one. */
export interface SummaryCall {
  conversations: number[];
}

export type InjectedFaultKind =
  | ('kill' | 'freeze' | 'stop' | 'link' | 'redis-kill' | 'redis-freeze')
  /** Wrong wall clock; suspended machine; Redis refusing writes; Slack executing late; new settings. */
  | ('clock' | 'sleep' | 'redis-refuse' | 'slack-late' | 'roll')
  /**
   * Platform refusing writes; engine with few places; poison question; dying readers; another program connected as the same
   * bot.
   */
  | ('refuse-writes' | 'engine-full' | 'poison' | 'kill-readers' | 'rival')
  /** Faults of a single scenario; the detail names them. */
  | 'act';

/** One injected fault. */
export interface InjectedFault {
  atMs: number;
  /** When a link was restored, a process resumed, or Redis was back; undefined for a freeze that a kill cut short. */
  untilMs?: number;
  kind: InjectedFaultKind;
  /** A life of a process, one of its links, Redis, Slack, or the deployment. */
  target: string;
  detail: string;
}

/** A violated guarantee, with the event whose trace shows how it happened. */
export interface Violation {
  kind:
    | 'lost'
    | 'repeated'
    | 'out of order'
    | 'crossed'
    | 'joined'
    | 'unfinished'
    | 'unexplained'
    | 'changed after the end'
    /** The trace of the question contradicts the ledger. */
    | 'misexplained';
  event: number;
  detail: string;
}

/** Whether the product considers it finished: answered, or given up, which is a separate fault. */
export function hasEnded({ state }: { state: string }): boolean {
  return state === 'final' || state === 'dead';
}

/** The product's own record of an event, in words. */
export function toldBy({ record }: SentEvent): string {
  return record ? `${record.state}, answered by Q${record.answeredBy ?? '?'}` : 'nothing';
}

/** Text of a person's message. */
export function questionText({ id, conversation, says }: Pick<SentEvent, 'id' | 'conversation' | 'says'>): string {
  return says ?? `Q${id} C${conversation} please`;
}

/** Question numbers in a text, in order. */
export function questionsIn(text: string): number[] {
  return numbersAfter(/\bQ(\d+)\b/g, text);
}

/** Conversation numbers in a text. */
export function conversationsIn(text: string): number[] {
  return [...new Set(numbersAfter(/\bC(\d+)\b/g, text))];
}

function numbersAfter(pattern: RegExp, text: string): number[] {
  return Array.from(text.matchAll(pattern), ([, digits]) => Number(digits));
}
