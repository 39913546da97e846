import { CSV_MARK, csvRow } from '../../shared/text/csv.ts';
import {
  readUnansweredQuestions,
  sumTopics,
  topicsCsv,
  UNANSWERED_REASONS,
  type TopicSum,
  type Unanswered,
} from '../../bot/admin/unanswered.ts';
import { UNANSWERED_LIFE_MS } from '../../bot/turn/conversation/unanswered-store.ts';
import type { RunAdmin } from './admin-context.ts';

/** `admin unanswered`: questions without a helpful answer, by words of their topics, or one by one. */
export const showUnanswered: RunAdmin = async ({ redis, keyRing, nowMs, config }, { options }) => {
  const sinceMs = typeof options['since'] === 'string' ? Date.parse(options['since']) : nowMs() - UNANSWERED_LIFE_MS;
  const showsText = config.conversation.showsUnansweredText;
  const questions = await readUnansweredQuestions({ redis, keyRing, showsText }, sinceMs);
  const isCsv = options['csv'] === true;
  if (options['list'] === true) {
    const data = questions.map(({ atMs, words: _words, ...rest }) => ({ at: new Date(atMs).toISOString(), ...rest }));
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

function lineOfQuestion({ atMs, reference, reasons, text }: Unanswered): string {
  const said = text === undefined ? '' : `  ${text.replace(/\s+/g, ' ')}`;
  return `${new Date(atMs).toISOString()}  ${reference}  ${reasons.join(', ')}${said}\n`;
}

function questionsCsv(questions: readonly Unanswered[]): string {
  const rows = questions.map(({ atMs, reference, reasons, text = '' }) =>
    csvRow([new Date(atMs).toISOString(), reference, reasons.join(' '), text]),
  );
  return [CSV_MARK + csvRow(['time', 'reference', 'reasons', 'text']), ...rows].join('');
}
