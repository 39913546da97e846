import { localize, type Language } from '../../../shared/text/texts.ts';
import { KIB_BYTES } from '../../../shared/clock.ts';
import { localTime } from '../../../shared/local-time.ts';
import { RECORD_TEXTS } from '../../i18n/record-texts.ts';
import type { Account } from '../../domain/account.ts';
import { aiFileHeader, aiMarkWords, type AiMarkSetting } from '../ai-mark.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import { openSummaryOf } from '../conversation/summary.ts';
import type { Outcome } from '../outcome.ts';
import type { TurnContext } from '../turn-context.ts';
import type { RecordOptions } from './forget.ts';
import { readPersonRecord, type PersonRecord } from './person-record.ts';

/** About the capacity of two WeCom messages; a third cannot be sent. */
const MAX_BYTES = 36 * KIB_BYTES;
/** Where the platform takes files, a longer export is sent as one. */
const MAX_FILE_BYTES = 512 * KIB_BYTES;

export interface ExportOptions extends RecordOptions {
  nowMs(): number;
  timeZone: string;
  aiMark: AiMarkSetting;
  /** Whether the institution keeps an audit record. */
  isAudited: boolean;
}

/**
 * /export: everything stored about the person as Markdown: the turns of all chats, the summary of older ones, the account,
 * settings, usage and ratings. Private chats only.
 * @param account exports only turns of this account
 */
export async function exportRecord(
  options: ExportOptions,
  context: TurnContext,
  account: Account | undefined,
): Promise<Outcome> {
  const { keyRing, timeZone, aiMark, isAudited } = options;
  const { turn, platform } = context;
  const { language } = context.question;
  const accountId = account?.accountId;
  const record = await readPersonRecord({ ...options, nowMs: options.nowMs() }, context, accountId);
  const scope = { chatKind: 'private', accountId, beganAtMs: Number.NEGATIVE_INFINITY } as const;
  const summary = openSummaryOf(keyRing, turn.conversation.id, turn.summary, scope)?.text;
  const takesFiles = platform.push?.files !== undefined || platform.replyLaterAsFile !== undefined;
  const mark = aiMarkWords(aiMark, language);
  const conversation = writeConversation(record.turns, {
    ...{ language, timeZone, summary, mark },
    maxBytes: takesFiles ? MAX_FILE_BYTES : MAX_BYTES,
  });
  const besides = writeBesides(record, account, { language, timeZone, isAudited });
  const text = [...conversation, ...besides].join('\n\n');
  if (text === '') return { kind: 'command', text: localize(RECORD_TEXTS.nothingToExport, language) };
  const hasAnswers = mark !== undefined && conversation.length > 0;
  return { kind: 'command', text, fileHeader: hasAnswers ? aiFileHeader(mark, turn.turnId) : undefined };
}

interface WritingOptions {
  language: Language;
  timeZone: string;
  summary: string | undefined;
  mark: string | undefined;
  maxBytes: number;
}

/** Formats turns as Markdown, oldest first, with questions as quotes. The summary of older turns comes first. */
function writeConversation(
  turns: readonly HistoryTurn[],
  { language, timeZone, summary, mark, maxBytes }: WritingOptions,
): string[] {
  const summed = summary === undefined ? [] : [`${localize(RECORD_TEXTS.summary, language)}\n\n${summary}`];
  if (turns.length === 0) return summed;
  const shown: string[] = [];
  let bytes = summed.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  for (const turn of turns.toReversed()) {
    const written = writeTurn(turn, language, timeZone);
    bytes += Buffer.byteLength(written);
    if (bytes > maxBytes && shown.length > 0) break;
    shown.push(written);
  }
  shown.reverse();
  const text = shown.length < turns.length ? RECORD_TEXTS.exportedNewest : RECORD_TEXTS.exported;
  const heading = localize(text, language, { count: turns.length, shown: shown.length });
  const marked = mark === undefined ? [] : [localize(RECORD_TEXTS.answersAre, language, { mark })];
  return [heading, ...marked, ...summed, ...shown];
}

function writeTurn(turn: HistoryTurn, language: Language, timeZone: string): string {
  const { atMs, userText, quotedText, images, files = [], assistantText, speakerTag } = turn;
  const { date, time } = localTime(atMs, timeZone);
  const place = speakerTag === undefined ? [] : [localize(RECORD_TEXTS.inGroup, language)];
  const head = [`${date} ${time.slice(0, 'HH:MM'.length)} (${timeZone})`, ...place].join(', ');
  const pictures = images > 0 ? [localize(RECORD_TEXTS.imagesWere, language, { count: images })] : [];
  const names = files.map(({ name }) => name).join(', ');
  const attached = names === '' ? [] : [localize(RECORD_TEXTS.filesWere, language, { names })];
  const asked = [userText, quotedText ?? '', ...pictures, ...attached].filter((part) => part !== '').join('\n');
  const answered = assistantText === '' ? [] : [assistantText];
  return [`**${head}**`, asked.replace(/^/gm, '> '), ...answered].join('\n\n');
}

/** What is stored besides the conversations. Nothing for a person about whom nothing else is stored. */
function writeBesides(
  { preferences, usage, ratings, unanswered }: PersonRecord,
  account: Account | undefined,
  { language, timeZone, isAudited }: { language: Language; timeZone: string; isAudited: boolean },
): string[] {
  const say = (name: keyof typeof RECORD_TEXTS, values: Record<string, string | number> = {}) =>
    localize(RECORD_TEXTS[name], language, values);
  const dateOf = (ms: number) => localTime(ms, timeZone).date;
  const chosen = preferences.map((one) => Object.entries(one).filter(([, value]) => value !== undefined));
  const settings = chosen.flatMap((one) =>
    one.map(([name, value]) => say('setting', { name: `/${WORDS[name] ?? name}`, value: String(value) })),
  );
  const lines = [
    ...(account === undefined
      ? []
      : [
          say('accountIs', {
            ...{
              name: account.name,
              id: account.accountId,
              department: account.departmentName || account.department || '–',
            },
            date: account.linkedAtMs > 0 ? dateOf(account.linkedAtMs) : '–',
          }),
        ]),
    ...(settings.length > 0
      ? [say('settingsAre', { count: chosen.filter((one) => one.length > 0).length, settings: settings.join(', ') })]
      : []),
    ...usage.map(({ month, questions, tokens }) => say('usageOf', { month, questions, tokens })),
    ...(unanswered > 0 ? [say('unansweredAre', { count: unanswered })] : []),
    ...ratings.map(({ atMs, verdict, reasons, words }) => {
      const judged = verdict === 'good' || verdict === 'bad' ? say(verdict) : verdict;
      return say('ratingsAre', { date: dateOf(atMs), verdict: [judged, reasons, words].filter(Boolean).join(', ') });
    }),
  ];
  const all = isAudited && lines.length > 0 ? [...lines, say('auditIs')] : lines;
  return all.length > 0 ? [[say('storedBesides'), ...all].join('\n')] : [];
}

/** Names of settings as people type them. */
const WORDS: Readonly<Record<string, string>> = { model: 'model', thinking: 'think', language: 'lang' };
