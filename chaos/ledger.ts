/** What the rig writes down while it runs, to be judged afterwards (the way of Jepsen). All times are the rig's own clock, ms. */
export interface Ledger {
  events: SentEvent[];
  messages: VisibleMessage[];
  samplings: Sampling[];
  /** Requests for the summary of a conversation, which are no questions. */
  summaries: SummaryCall[];
  /** When a life of a worker took a turn that another had left; the turn is named by its newest event. */
  resumptions: { atMs: number; worker: string; turn: number }[];
  injectedFaults: InjectedFault[];
  /** Questions that kill every process that answers them. */
  poisons: number[];
  /** What stood below a conversation at the end although nothing was being done there any more. */
  statusesLeft?: { event: number | undefined; text: string }[];
}

export type ChatPlatform = 'wecom' | 'slack';

/** One message of a person, with every try to deliver it. */
export interface SentEvent {
  /** From 1; the question's text holds it as `Q<id>`. */
  id: number;
  platform: ChatPlatform;
  /** The conversation's number; every text in it holds `C<number>`. */
  conversation: number;
  /** The platform's id of the message, by which the product knows it. */
  messageId: string;
  /** What it says instead of a question: a code, or a word to the bot. */
  says?: string;
  sentAtMs: number;
  /** When it was answered with 2xx; never, when the platform gave up before. */
  acknowledgedAtMs?: number;
  tries: { atMs: number; receiver: string; result: string }[];
  /** What the product's own ledger says of it at the end. */
  record?: { state: string; answeredBy: number | undefined };
}

/** One message of the bot as its people see it, with all that it ever showed. */
export interface VisibleMessage {
  conversation: number;
  /** The event that it hangs on: its stream (WeCom) or its thread (Slack). */
  event: number | undefined;
  snapshots: { atMs: number; text: string }[];
  isFinal: boolean;
  /** Whether the platform itself shows that it grows. */
  isOpen?: boolean;
}

/** One call of the model. The text that it streams names it in every word, so that joined ones are seen. */
export interface Sampling {
  number: number;
  /** The life of a worker that asked: its name and how often it had been started. */
  worker: string;
  conversation: number;
  /** Questions of the call's last message: what is asked. */
  asked: number[];
  /** All questions of the prompt, in its order. */
  inPrompt: number[];
  /** Other conversations' numbers that stand in the prompt. */
  foreign: number[];
  startedAtMs: number;
  endedAtMs?: number;
  /** `full`: refused since too many others were under way, which excuses no apology. */
  ending: 'open' | 'whole' | 'refused' | 'full' | 'cut' | 'stalled' | 'left';
}

/** One request for a summary: the conversations whose texts it holds, which is one. */
export interface SummaryCall {
  conversations: number[];
}

export type InjectedFaultKind =
  | ('kill' | 'freeze' | 'stop' | 'link' | 'redis-kill' | 'redis-freeze')
  /** A wall clock that went wrong; a whole machine that slept; a Redis that refuses writes; a Slack that executes late; new settings. */
  | ('clock' | 'sleep' | 'redis-refuse' | 'slack-late' | 'roll')
  /** A platform that refuses writes; an engine with few places; a question that kills; readers that die; another program as the same bot. */
  | ('refuse-writes' | 'engine-full' | 'poison' | 'kill-readers' | 'rival')
  /** What one scenario alone does; its detail names it. */
  | 'act';

/** One thing that was done to the product. */
export interface InjectedFault {
  atMs: number;
  /** When a link was mended, a process woke, or Redis was back; a freeze that a kill cut short has none. */
  untilMs?: number;
  kind: InjectedFaultKind;
  /** A life of a process, one of its links, Redis, Slack, or the deployment. */
  target: string;
  detail: string;
}

/** A broken promise, with the event whose trace tells how it came to be. */
export interface Violation {
  kind:
    | 'lost'
    | 'repeated'
    | 'out of order'
    | 'crossed'
    | 'joined'
    | 'unfinished'
    | 'unexplained'
    | 'changed after the end';
  event: number;
  detail: string;
}

/** Whether the product counts it as ended: answered, or given up with an apology, which is a fault of its own. */
export function hasEnded({ state }: { state: string }): boolean {
  return state === 'final' || state === 'dead';
}

/** What the product's own ledger said of an event, in words. */
export function toldBy({ record }: SentEvent): string {
  return record ? `${record.state}, answered by Q${record.answeredBy ?? '?'}` : 'nothing';
}

/** The text that a person writes. */
export function questionText({ id, conversation, says }: Pick<SentEvent, 'id' | 'conversation' | 'says'>): string {
  return says ?? `Q${id} C${conversation} please`;
}

/** Question numbers in a text, in their order. */
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
