import { DAY_MS } from '../../shared/clock.ts';
import { CSV_MARK, csvRow } from '../../shared/text/csv.ts';
import {
  readUnansweredQuestions,
  sumTopics,
  topicsCsv,
  UNANSWERED_REASONS,
  type TopicSum,
  type Unanswered,
} from '../../bot/admin/unanswered.ts';
import type { RunAdmin } from './admin-context.ts';

/** Stored for 40 days. */
const DEFAULT_SINCE_MS = 40 * DAY_MS;

/** `admin unanswered`: questions without a helpful answer, by words of their topics, or one by one. */
export const showUnanswered: RunAdmin = async ({ redis, keyRing, nowMs, config }, { options }) => {
  const sinceMs = typeof options['since'] === 'string' ? Date.parse(options['since']) : nowMs() - DEFAULT_SINCE_MS;
  const showsText = config.conversation.showsUnansweredText;
  const questions = await readUnansweredQuestions({ redis, keyRing, showsText }, sinceMs);
  const isCsv = options['csv'] === true;
  if (options['list'] === true) {
    const data = questions.map(({ atMs, ...rest }) => ({ at: new Date(atMs).toISOString(), ...rest }));
    const text = isCsv ? questionsCsv(questions) : linesOr(questions.map(lineOfQuestion));
    return { data, text, isCsv };
  }
  const sums = sumTopics(questions);
  return { data: sums, text: isCsv ? topicsCsv(sums) : linesOr(sums.map(lineOfTopic)), isCsv };
};

function linesOr(lines: readonly string[]): string {
  return lines.length === 0 ? 'No unanswered questions are stored\n' : lines.join('');
}

function lineOfTopic({ word, questions, reasons }: TopicSum): string {
  const counts = UNANSWERED_REASONS.filter((reason) => reasons[reason] > 0);
  return `${word}  questions: ${questions} (${counts.map((reason) => `${reason} ${reasons[reason]}`).join(', ')})\n`;
}

function lineOfQuestion({ atMs, reference, reasons, words, text }: Unanswered): string {
  const what = text === undefined ? words.join(' ') : text.replace(/\s+/g, ' ');
  return `${new Date(atMs).toISOString()}  ${reference}  ${reasons.join(', ')}  ${what}\n`;
}

function questionsCsv(questions: readonly Unanswered[]): string {
  const rows = questions.map(({ atMs, reference, reasons, words, text = '' }) =>
    csvRow([new Date(atMs).toISOString(), reference, reasons.join(' '), words.join(' '), text]),
  );
  return [CSV_MARK + csvRow(['time', 'reference', 'reasons', 'words', 'text']), ...rows].join('');
}
