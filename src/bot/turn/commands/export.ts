import { localize, type Language } from '../../../shared/text/texts.ts';
import { KIB_BYTES } from '../../../shared/clock.ts';
import { localTime } from '../../../shared/local-time.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import { readHistory } from '../conversation/read-history.ts';
import { openSummaryOf } from '../conversation/summary.ts';
import { RECORD_TEXTS } from '../../i18n/record-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';
import type { RecordOptions } from './forget.ts';
import { aiMarkWords, type AiMarkSetting } from '../ai-mark.ts';
import type { AccountId } from '../../domain/ids.ts';

/** About the capacity of two WeCom messages; a third cannot be sent. */
const MAX_BYTES = 36 * KIB_BYTES;

/**
 * /export: the stored conversation as Markdown: the summary of its older turns, if there is one, and the newest turns that
 * fit. Private chats only.
 * @param accountId exports only turns of this account
 */
export async function exportHistory(
  { redis, keyRing, timeZone, aiMark }: RecordOptions & { timeZone: string; aiMark: AiMarkSetting },
  { turn, question: { language } }: TurnContext,
  accountId: AccountId | undefined,
): Promise<Outcome> {
  const kept = await readHistory(redis, keyRing, turn.conversation);
  const own = kept.map((one) => one.turn).filter((said) => said.accountId === accountId);
  const scope = { chatKind: 'private', accountId, beganAtMs: Number.NEGATIVE_INFINITY } as const;
  const summary = openSummaryOf(keyRing, turn.conversation.id, turn.summary, scope);
  return {
    kind: 'command',
    text: writeExport(own, { language, timeZone, summary: summary?.text, mark: aiMarkWords(aiMark, language) }),
  };
}

/** Formats turns as Markdown, oldest first, with questions as quotes. The summary of older turns comes first. */
export function writeExport(
  turns: readonly HistoryTurn[],
  { language, timeZone, summary, mark }: { language: Language; timeZone: string; summary?: string; mark?: string },
): string {
  if (turns.length === 0) return localize(RECORD_TEXTS.nothingToExport, language);
  const summed = summary === undefined ? [] : [`${localize(RECORD_TEXTS.summary, language)}\n\n${summary}`];
  const shown: string[] = [];
  let bytes = summed.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  for (const turn of turns.toReversed()) {
    const written = writeTurn(turn, language, timeZone);
    bytes += Buffer.byteLength(written);
    if (bytes > MAX_BYTES && shown.length > 0) break;
    shown.unshift(written);
  }
  const text = shown.length < turns.length ? RECORD_TEXTS.exportedNewest : RECORD_TEXTS.exported;
  const heading = localize(text, language, { count: turns.length, shown: shown.length });
  const marked = mark === undefined ? [] : [localize(RECORD_TEXTS.answersAre, language, { mark })];
  return [heading, ...marked, ...summed, ...shown].join('\n\n');
}

function writeTurn(
  { atMs, userText, images, assistantText }: HistoryTurn,
  language: Language,
  timeZone: string,
): string {
  const { date, time } = localTime(atMs, timeZone);
  const pictures = images > 0 ? [localize(RECORD_TEXTS.imagesWere, language, { count: images })] : [];
  const asked = [userText, ...pictures].filter((part) => part !== '').join('\n');
  const answered = assistantText === '' ? [] : [assistantText];
  return [`**${date} ${time.slice(0, 'HH:MM'.length)} (${timeZone})**`, asked.replace(/^/gm, '> '), ...answered].join(
    '\n\n',
  );
}
