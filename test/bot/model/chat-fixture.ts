import { createChatClient, type ChatClient } from '../../../src/bot/model/chat-client.ts';
import { ChatError } from '../../../src/bot/model/chat-error.ts';
import { DEFAULT_CHAT_LIMITS, type ChatLimits } from '../../../src/bot/model/chat-limits.ts';
import type { DecoderLimits } from '../../../src/bot/model/stream/stream-decoder.ts';
import type { ChatEvent, ChatReport, ChatRequest, OnChatEvent } from '../../../src/bot/model/chat-types.ts';
import { recordingLog } from '../../support/redis.ts';
import { shippedModels } from '../../support/shipped-models.ts';
import { startScriptedChatServer, type ScriptedChatServer } from './scripted-chat-server.ts';

/** Decoder limits without any tools. */
export const READING: DecoderLimits = { ...DEFAULT_CHAT_LIMITS, offered: new Set(), thoughtFirst: false };

export const API_KEY = 'sk-canary-key-000000000000';
/** Stands for a person's message, which only the chat service may see. */
export const CANARY = 'canary-message-text';

export interface ChatFixture {
  server: ScriptedChatServer;
  client: ChatClient;
  /** Moves the client's clock; `aheadMs` is the error of the wall clock in milliseconds. */
  clock: { nowMs: number; aheadMs: number };
  lines: string[];
  ended: { outcome: string; firstEventMs?: number }[];
  retries: { code: string; waitMs: number }[];
  waits: { reason: string; waitMs: number }[];
  limits: number[];
  breaker: string[];
  fallbacks: { model: string; fallback: string; code: string }[];
  unknownReasons: number;
  /** Sends a request; `onEvent` also receives each event. */
  ask(request?: Partial<ChatRequest>, signal?: AbortSignal, onEvent?: OnChatEvent): Promise<ReadAnswer>;
  stop(): Promise<void>;
}

/** Retry pauses short enough for tests. */
const QUICK: Partial<ChatLimits> = { retryBaseMs: 2, retryCapMs: 4 };

/** A client connected to a scripted service. */
export async function startChatFixture(
  limits: Partial<ChatLimits> = {},
  catalog = shippedModels(),
): Promise<ChatFixture> {
  const server = await startScriptedChatServer(false);
  const clock = { nowMs: 1_800_000_000_000, aheadMs: 0 };
  const { log, lines } = recordingLog();
  const told = {
    ended: [] as ChatFixture['ended'],
    retries: [] as ChatFixture['retries'],
    waits: [] as ChatFixture['waits'],
    limits: [] as number[],
    breaker: [] as string[],
    fallbacks: [] as ChatFixture['fallbacks'],
  };
  let unknownReasons = 0;
  const report: ChatReport = {
    callEnded: (call) => void told.ended.push(call),
    retried: (retry) => void told.retries.push(retry),
    waited: (wait) => void told.waits.push(wait),
    limitChanged: ({ limit }) => void told.limits.push(limit),
    breakerChanged: ({ state }) => void told.breaker.push(state),
    fellBack: (event) => void told.fallbacks.push(event),
    unknownFinishReason: () => void (unknownReasons += 1),
  };
  const client = createChatClient({
    baseUrl: server.baseUrl,
    apiKey: API_KEY,
    catalog,
    nowMs: () => clock.nowMs + clock.aheadMs,
    monotonicMs: () => clock.nowMs,
    log,
    report,
    limits: { ...QUICK, ...limits },
    random: () => 0.5,
  });
  return {
    server,
    client,
    clock,
    lines,
    ...told,
    get unknownReasons() {
      return unknownReasons;
    },
    ask: (request = {}, signal = new AbortController().signal, onEvent = () => undefined) =>
      readAnswer((heard) => {
        const asked = { model: 'svc-plus', messages: [{ role: 'user' as const, content: CANARY }], ...request };
        return client.stream(asked, signal, (event) => {
          heard(event);
          onEvent(event);
        });
      }),
    async stop() {
      await client.close();
      await server.stop();
    },
  };
}

export interface ReadAnswer {
  events: ChatEvent[];
  text: string;
  reasoning: string;
  end: string | undefined;
  error: ChatError | undefined;
}

/** Collects an answer up to its end or error. Rethrows anything but a ChatError. */
async function readAnswer(stream: (onEvent: OnChatEvent) => Promise<void>): Promise<ReadAnswer> {
  const events: ChatEvent[] = [];
  let error: ChatError | undefined;
  try {
    await stream((event) => void events.push(event));
  } catch (thrown) {
    if (!(thrown instanceof ChatError)) throw thrown;
    error = thrown;
  }
  return { events, ...summaryOf(events), error };
}

export function summaryOf(events: readonly ChatEvent[]): { text: string; reasoning: string; end: string | undefined } {
  const last = events.at(-1);
  return {
    text: events.map((event) => (event.type === 'text' ? event.delta : '')).join(''),
    reasoning: events.map((event) => (event.type === 'reasoning' ? event.delta : '')).join(''),
    end: last?.type === 'end' ? last.reason : undefined,
  };
}
