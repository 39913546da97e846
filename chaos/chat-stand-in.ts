import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SUMMARY_OPENING } from '../src/bot/turn/conversation/summary-prompt.ts';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import { openEngineStream } from './engine-streams.ts';
import { hostileText } from './hostile-text.ts';
import { conversationsIn, questionsIn, type Ledger, type Sampling } from './ledger.ts';

export interface ChatStandIn {
  readonly port: number;
  /** Disables its own faults from now on. */
  behave(isBehaving: boolean): void;
  /** Maximum concurrent calls; further ones are refused. Unlimited if undefined. */
  limitTo(places: number | undefined): void;
  close(): Promise<void>;
}

export interface ChatStandInOptions {
  ledger: Ledger;
  random: SeededRandom;
  /** Whether calls may stall: the product gives them 60 s, too long for a short run. */
  mayStall: boolean;
  /** Whether it injects faults at all. */
  mayFail: boolean;
  /** Maximum pause before each word. Defaults to 60 ms. */
  wordEveryMs?: number;
  /** Duration of its answers instead, within this range. */
  answerMs?: LongAnswers;
  /** Inserts text between its words that is hard for a markdown parser. */
  isHostile?: boolean;
  /** Uses the stream dialects of many engines. */
  isOdd?: boolean;
  /**
   * Called with each call that it begins to answer. @returns after how many milliseconds the caller dies of it
   * (die-of-response.mjs): the call then never ends by itself
   */
  began?(sampling: Sampling): number | undefined;
}

/** Milliseconds. */
export interface LongAnswers {
  least: number;
  most: number;
}

interface Message {
  role: string;
  content: string;
}

type Manner = 'well' | 'busy' | 'error' | 'page' | 'cut' | 'broken' | 'stall';

const MIN_WORDS = 6;
const MAX_WORDS = 20;
const WORD_EVERY_MS = 60;
/** Factor for the number of words of a long answer. */
const LONGER = 3;

/**
 * A chat service with identifiable answers: each word contains the sampling and its position, the first word the questions
 * and their conversation. A few calls fail as in RELIABILITY.md chat-service-fails, stalled-stream, cut-stream and
 * odd-stream. A summary request is not a question: it is counted separately, and its answer names the conversations that it
 * contains.
 */
export async function startChatStandIn(options: ChatStandInOptions): Promise<ChatStandIn> {
  let isBehaving = !options.mayFail;
  let places = Number.POSITIVE_INFINITY;
  const server = createServer((request, response) => {
    void serve(request, response, { ...options, isBehaving, places }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    behave: (shall) => (isBehaving = shall || !options.mayFail),
    limitTo: (most = Number.POSITIVE_INFINITY) => (places = most),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: ChatStandInOptions & { isBehaving: boolean; places: number },
): Promise<void> {
  const { ledger, random, isBehaving, wordEveryMs = WORD_EVERY_MS, answerMs } = options;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: Message[] };
  if (messages[0]?.content.startsWith(SUMMARY_OPENING)) return sumUp(response, messages, options);
  const inUse = ledger.samplings.filter(({ ending }) => ending === 'open').length;
  const sampling = readCall(request, messages, ledger);
  const end = (ending: Sampling['ending']) => {
    if (sampling.ending !== 'open') return;
    sampling.ending = ending;
    sampling.endedAtMs = Date.now();
  };
  response.once('close', () => end('left'));
  if (inUse >= options.places) {
    end('full');
    return refuse(response, 'busy', random.pick(['120', '5', undefined]));
  }
  const deadlyAfterMs = options.began?.(sampling);
  const isEndless = deadlyAfterMs !== undefined;
  if (isEndless) response.setHeader('x-deadly-after-ms', deadlyAfterMs);
  const manner = isBehaving || isEndless ? 'well' : mannerOf(random, options.mayStall);
  if (manner === 'busy' || manner === 'error' || manner === 'page') {
    end('refused');
    return refuse(response, manner, '1');
  }
  const words = random.integer(MIN_WORDS, MAX_WORDS) * (answerMs ? LONGER : 1);
  const wholeMs = answerMs && random.integer(answerMs.least, answerMs.most);
  const breaksAt = isEndless ? words : manner === 'well' ? Number.POSITIVE_INFINITY : random.integer(0, words);
  const stream = openEngineStream(response, random, options.isOdd ?? false);
  for (let word = 0; word <= words; word += 1) {
    if (word === breaksAt && isEndless) return;
    if (word === breaksAt) {
      end(manner === 'stall' ? 'stalled' : 'cut');
      if (manner === 'cut') response.destroy();
      if (manner === 'broken') stream.fail();
      return;
    }
    if (response.destroyed) return;
    stream.write(wordOf(sampling, word) + (options.isHostile === true ? hostileText(random) : ''));
    await pause(wholeMs === undefined ? random.integer(0, wordEveryMs) : wholeMs / (words + 1));
  }
  stream.write(`S${sampling.number}end`);
  end('whole');
  stream.end();
}

/** Its text for a conversation is recognizable in later prompts, and would be in another conversation's. */
function sumUp(
  response: ServerResponse,
  messages: readonly Message[],
  { ledger, random, isOdd = false }: ChatStandInOptions,
): void {
  const conversations = conversationsIn(
    messages
      .slice(1)
      .map(({ content }) => content)
      .join('\n'),
  );
  ledger.summaries.push({ conversations });
  const stream = openEngineStream(response, random, isOdd);
  stream.write(`Notes of ${conversations.map((number) => `C${number}`).join(' and ')}.`);
  stream.end();
}

/** The calling process is identified by its key. */
function readCall({ headers }: IncomingMessage, messages: readonly Message[], ledger: Ledger): Sampling {
  const said = messages.filter(({ role }) => role !== 'system').map(({ content }) => content);
  const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const conversation = conversationsIn(asked.at(-1) ?? '')[0] ?? 0;
  const sampling: Sampling = {
    number: ledger.samplings.length + 1,
    worker: (headers.authorization ?? '').replace('Bearer sk-chaos-', ''),
    conversation,
    asked: questionsIn(asked.at(-1) ?? ''),
    inPrompt: questionsIn(asked.join('\n')),
    foreign: conversationsIn(said.join('\n')).filter((number) => number !== conversation),
    startedAtMs: Date.now(),
    ending: 'open',
  };
  ledger.samplings.push(sampling);
  return sampling;
}

function mannerOf(random: SeededRandom, mayStall: boolean): Manner {
  if (random.oneIn(60)) return 'busy';
  if (random.oneIn(60)) return 'error';
  if (random.oneIn(120)) return 'page';
  if (random.oneIn(80)) return random.pick(['cut', 'broken']);
  return mayStall && random.oneIn(400) ? 'stall' : 'well';
}

function refuse(response: ServerResponse, manner: 'busy' | 'error' | 'page', retryAfter?: string): void {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  if (manner === 'busy') response.writeHead(429, headers).end('{"error":{"message":"busy"}}');
  else if (manner === 'error') response.writeHead(503).end('upstream');
  else response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
}

function wordOf({ number, asked, conversation }: Sampling, word: number): string {
  const opening = `S${number}w0 ${asked.map((id) => `Q${id}`).join(' ')} C${conversation} `;
  return word === 0 ? opening : `S${number}w${word} `;
}
