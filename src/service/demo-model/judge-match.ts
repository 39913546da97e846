import { GLOSSARY } from './glossary.ts';

/** Names that rarely occur in questions about anything else. Compared as stems. */
export const OUR_NAMES: ReadonlySet<string> = new Set(
  'parley wecom slack feishu dingtalk redi bullmq docker prometheu webhook unlink openai npm oauth sweeper encodingaeskey'.split(
    ' ',
  ),
);
/** Words of our domain that are also used elsewhere. Compared as stems. */
export const OUR_WORDS: ReadonlySet<string> = new Set(
  (
    'bot chat group mention conversation message answer worker receiver service model engine tool image voice thought sign-in sign login ' +
    'key secret token setting metric log deploy install compose callback queue shard command slash encrypt test backup upgrade firewall proxy memory try 工具'
  ).split(' '),
);

/** Minimum shares of the question, by weight, that a section must contain. Tuned with the questions of the tests. */
const SHARE = { ofOurName: 0.25, ofOurTrade: 0.45, ofAnything: 0.75 };
const MIN_TERMS_OF_ANYTHING = 2;
/** Weight of a term that is only similar to a word of the section. */
const RESEMBLING = 0.5;

/** Number of sections in one language, and in how many of them each word occurs. */
export interface WordCounts {
  sections: number;
  holding: ReadonlyMap<string, number>;
}

/** How a section matched. */
export interface Match {
  /** Terms of the question that it contains, exactly or similarly. */
  terms: readonly string[];
  /** Its own words that matched. */
  words: ReadonlySet<string>;
}

/**
 * Whether a matching section can answer the question, instead of only sharing a word with it. Rare words weigh more, and a
 * word that no page contains weighs most: "Why is the sky blue?" is not answered by a page that contains "blue".
 */
export function isAnswer(question: string, terms: readonly string[], { match, counts }: JudgedMatch): boolean {
  const weightOf = (term: string) => Math.log(1 + counts.sections / ((counts.holding.get(term) ?? 0) + 0.5));
  const sum = (weights: number[]) => weights.reduce((left, right) => left + right, 0);
  const met = terms.map((term) => {
    if (match.words.has(term)) return weightOf(term);
    return match.terms.includes(term) ? RESEMBLING * weightOf(term) : 0;
  });
  const share = sum(met) / Math.max(Number.EPSILON, sum(terms.map(weightOf)));
  if (terms.some((term) => OUR_NAMES.has(term) || term.includes('_'))) return share >= SHARE.ofOurName;
  const isOfOurTrade = terms.some((term) => OUR_WORDS.has(term)) || GLOSSARY.some(([asked]) => asked.test(question));
  if (isOfOurTrade) return share >= SHARE.ofOurTrade;
  return share >= SHARE.ofAnything && terms.length >= MIN_TERMS_OF_ANYTHING;
}

interface JudgedMatch {
  match: Match;
  counts: WordCounts;
}
