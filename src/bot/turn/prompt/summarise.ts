import type { NowMs } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { ChatClient, ChatRequest } from '../../model/chat-types.ts';
import type { StoredTurn } from '../conversation/read-history.ts';
import { openSummaryOf, type ConversationSummary, type SummedScope } from '../conversation/summary.ts';
import { summaryPrompt, summedTokens } from '../conversation/summary-prompt.ts';
import type { SummaryStore } from '../conversation/summary-store.ts';
import { usageChange } from '../conversation/usage-store.ts';
import { type UsageChange } from '../../domain/turn.ts';
import type { SummaryRequest } from './earlier-conversation.ts';
import { TokenCount } from '../answer/count-tokens.ts';

export interface SummariseOptions {
  chat: Pick<ChatClient, 'stream'>;
  keyRing: KeyRing;
  store: Pick<SummaryStore, 'read' | 'begin' | 'write'>;
  model(): string;
  /** Maximum tokens of a prompt, for summaries and answers. */
  promptTokens: number;
  nowMs: NowMs;
  /** Time zone of the days that usage is counted for. */
  timeZone: string;
}

/** Share of a prompt for the newest turns, which are left for later, so that summaries are made only occasionally. */
const LEFT_SHARE = 0.5;
/**
 * Maximum newest turns left for later: half of the turns read per question, since even short turns drop out of the prompt
 * after that many.
 */
const MAX_LEFT_TURNS = 25;
/** Share of a prompt for the turns to summarize; the rest is for the instructions and for estimates that were too low. */
const SUMMED_SHARE = 0.7;
/** Maximum length of a summary relative to the prompt; a character is at most about one token. */
const SUMMARY_SHARE = 0.125;
const MIN_SUMMARY_CHARS = 500;

/**
 * Creates a new summary of a conversation from the older one and the turns after it, of the same person and conversation, up
 * to the turns that prompts contain anyway. Nothing is written if the input has changed meanwhile or the answer is
 * incomplete. The model is called only if the last failed attempt is long enough ago.
 * @throws ChatError if the service is unavailable
 */
export function createSummarise(options: SummariseOptions) {
  return async (request: SummaryRequest, signal: AbortSignal): Promise<'written' | 'stale' | 'not-now' | 'nothing'> => {
    const { keyRing, store, model, promptTokens } = options;
    const source = await store.read(request.conversation);
    const scope = scopeOf(source.kept, request);
    if (!scope) return 'nothing';
    const older = openSummaryOf(keyRing, request.conversation.id, source.startedFrom, scope);
    const chosen = chooseTurns(scope, older?.coveredToMs ?? Number.NEGATIVE_INFINITY, promptTokens);
    const newest = chosen.at(-1);
    if (!newest) return 'nothing';
    const startedFrom = await store.begin(request.conversation, source.startedFrom);
    if (startedFrom === undefined) return 'not-now';
    const messages = summaryPrompt(
      older?.text,
      chosen.map(({ turn }) => turn),
    );
    const maxAnswerChars = Math.max(MIN_SUMMARY_CHARS, Math.floor(promptTokens * SUMMARY_SHARE));
    const spent = new TokenCount();
    const text = await answerOf(options.chat, { model: model(), messages, maxAnswerChars }, { signal, spent });
    if (text === undefined) return 'nothing';
    const { accountId, chatKind } = scope;
    const coveredToMs = newest.turn.atMs;
    const summary: ConversationSummary = {
      version: 1,
      text,
      chatKind,
      coveredToMs,
      accountId,
    };
    const madeFrom = { startedFrom, newestCovered: newest.sealed };
    return (await store.write(request.conversation, summary, madeFrom, usageOf(options, request, spent)))
      ? 'written'
      : 'stale';
  };
}

/** The turns that a summary may cover, oldest first, without the last one, which /retry may replace. */
interface Scope extends SummedScope {
  turns: StoredTurn[];
  /** Index in `turns` of the turn that requested the summary. */
  asked: number;
}

function scopeOf(all: StoredTurn[], { turnId, isShared }: SummaryRequest): Scope | undefined {
  const begin = Math.max(
    0,
    all.findLastIndex(({ turn }) => turn.startsAnew === true),
  );
  const current = all.slice(begin, -1);
  const asked = current.find(({ turn }) => turn.turnId === turnId)?.turn;
  if (!asked) return undefined;
  const isGroup = asked.speakerTag !== undefined;
  const turns = current.filter(
    ({ turn }) =>
      turn.assistantText !== '' &&
      (turn.speakerTag !== undefined) === isGroup &&
      (isShared || turn.accountId === asked.accountId),
  );
  return {
    turns,
    asked: turns.findIndex(({ turn }) => turn === asked),
    chatKind: isGroup ? 'group' : 'private',
    accountId: isShared ? undefined : asked.accountId,
    beganAtMs: all[begin]?.turn.startsAnew ? all[begin].turn.atMs : Number.NEGATIVE_INFINITY,
  };
}

/** Selects the oldest uncovered turns that fit one request, up to the newest turns that prompts contain anyway. */
function chooseTurns({ turns, asked }: Scope, coveredToMs: number, promptTokens: number): StoredTurn[] {
  let leftTokens = promptTokens * LEFT_SHARE;
  const least = Math.max(asked + 1, turns.length - MAX_LEFT_TURNS);
  const end = 1 + turns.findLastIndex(({ turn }, at) => at < least || (leftTokens -= summedTokens(turn)) <= 0);
  const fresh = turns.slice(0, end).filter(({ turn }) => turn.atMs > coveredToMs);
  let roomTokens = promptTokens * SUMMED_SHARE;
  const rest = fresh.findIndex(({ turn }) => (roomTokens -= summedTokens(turn)) < 0);
  return rest === -1 ? fresh : fresh.slice(0, Math.max(1, rest));
}

/** @returns undefined for an incomplete or empty answer */
async function answerOf(
  chat: SummariseOptions['chat'],
  request: ChatRequest,
  { signal, spent }: { signal: AbortSignal; spent: TokenCount },
): Promise<string | undefined> {
  let [text, isWhole] = ['', false];
  // If the service reports no usage, the estimate has no correction factor either.
  spent.recordPrompt(request.messages, 1);
  await chat.stream(request, signal, (event) => {
    spent.recordEvent(event);
    if (event.type === 'text') text += event.delta;
    if (event.type === 'retract') text = '';
    if (event.type === 'end') isWhole = event.reason !== 'truncated';
  });
  return isWhole && text.trim() !== '' ? text.trim() : undefined;
}

/** Usage of a summary for the person: tokens only, no question. */
function usageOf(
  { nowMs, timeZone }: SummariseOptions,
  { conversation: { partition }, personId }: SummaryRequest,
  { tokens }: TokenCount,
): UsageChange | undefined {
  return personId === undefined
    ? undefined
    : usageChange({ partition, personId, nowMs: nowMs(), timeZone }, { questions: 0, tokens });
}
