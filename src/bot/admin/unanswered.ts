import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { CSV_MARK, csvRow } from '../../shared/text/csv.ts';
import { topicWords } from '../../shared/text/topic-words.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { referenceOf } from '../domain/turn-trace.ts';
import { readFeedback } from '../reply/feedback/read-feedback.ts';
import { questionTexts, readUnanswered, type UnansweredQuestion } from '../turn/conversation/unanswered-store.ts';

/** `no-source`: the documents were searched, and the answer cites none. `thumbs-down`: somebody rated the answer as bad. */
export const UNANSWERED_REASONS = ['no-source', 'refused', 'thumbs-down'] as const;
export type UnansweredWhy = (typeof UNANSWERED_REASONS)[number];

/** A question that got no helpful answer. */
export interface Unanswered {
  atMs: number;
  /** As people see it below a failure, for `trace`. */
  reference: string;
  reasons: UnansweredWhy[];
  /** Words of its topic, only for counts over all questions; empty if its text is no longer stored. */
  words: string[];
  /** Only where UNANSWERED_TEXT allows it, and as long as its conversation is stored. */
  text?: string;
}

/** Stands for the words of questions whose text is no longer stored. */
export const NO_TEXT = '-';

/** Number of unanswered questions with a word. */
export interface TopicSum {
  /** `NO_TEXT` for questions whose text is no longer stored. */
  word: string;
  questions: number;
  reasons: Record<UnansweredWhy, number>;
}

interface ReadOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  /** UNANSWERED_TEXT. */
  showsText: boolean;
}

/** Unanswered questions since a time, the newest first. For administrators only: searches all keys. */
export async function readUnansweredQuestions(options: ReadOptions, sinceMs: number): Promise<Unanswered[]> {
  const found = new Map<DeliveryId, Pick<UnansweredQuestion, 'atMs' | 'turnId'> & { reasons: Set<UnansweredWhy> }>();
  const places: Pick<UnansweredQuestion, 'turnId' | 'conversation'>[] = [];
  const add = ({ turnId, atMs }: Pick<UnansweredQuestion, 'atMs' | 'turnId'>, reason: UnansweredWhy) => {
    const known = found.get(turnId) ?? { atMs, turnId, reasons: new Set() };
    found.set(turnId, { ...known, reasons: known.reasons.add(reason) });
  };
  for (const question of await readUnanswered(options.redis, sinceMs)) {
    add(question, question.reason);
    places.push(question);
  }
  for await (const { verdict, answer: turnId, atMs, conversation } of readFeedback(options, sinceMs)) {
    if (verdict !== 'bad') continue;
    add({ turnId, atMs }, 'thumbs-down');
    if (conversation) places.push({ turnId, conversation });
  }
  const texts = await questionTexts(options, places);
  const questions = [...found.values()].map(({ atMs, turnId, reasons }): Unanswered => {
    const text = texts.get(turnId);
    const words = text === undefined ? [] : topicWords(text);
    return {
      atMs,
      reference: referenceOf(turnId),
      reasons: [...reasons],
      words,
      text: options.showsText ? text : undefined,
    };
  });
  return questions.sort((one, other) => other.atMs - one.atMs);
}

/** Counts by word, the most frequent first. */
export function sumTopics(questions: readonly Unanswered[]): TopicSum[] {
  const sums = new Map<string, TopicSum>();
  for (const { words, reasons } of questions) {
    for (const word of words.length === 0 ? [NO_TEXT] : words) {
      const sum = sums.get(word) ?? {
        ...{ word, questions: 0 },
        reasons: { 'no-source': 0, refused: 0, 'thumbs-down': 0 },
      };
      sum.questions += 1;
      for (const reason of reasons) sum.reasons[reason] += 1;
      sums.set(word, sum);
    }
  }
  return [...sums.values()].sort((one, other) => other.questions - one.questions || (one.word < other.word ? -1 : 1));
}

export function topicsCsv(sums: readonly TopicSum[]): string {
  const rows = sums.map(({ word, questions, reasons }) =>
    csvRow([
      word === NO_TEXT ? '(text no longer stored)' : word,
      questions,
      ...UNANSWERED_REASONS.map((reason) => reasons[reason]),
    ]),
  );
  return [CSV_MARK + csvRow(['word', 'questions', ...UNANSWERED_REASONS]), ...rows].join('');
}
