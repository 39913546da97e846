import { SIMPLIFIED } from '../../shared/text/simplified-characters.ts';

/** Words of equal meaning in this deployment, such as `["饭卡", "校园卡"]`. */
export type SynonymGroup = readonly string[];

/** Maximum queries for one question, so that a question with many known words does not multiply the cost. */
const MAX_QUERIES = 8;

/**
 * The queries for a question: the question itself, then with known words replaced by their synonyms. Ignores case and the
 * difference between traditional and simplified characters. Linear in the question for each group.
 */
export function withSynonyms(query: string, groups: readonly SynonymGroup[]): string[] {
  const plain = plainText(query);
  let queries = [query];
  for (const group of groups) {
    const known = patternOf(group);
    if (plain.search(known) < 0) continue;
    const others = queries.flatMap((one) =>
      group.map((word) =>
        plainText(one)
          .replace(known, () => ` ${word} `)
          .trim(),
      ),
    );
    queries = [...new Set([...queries, ...others])];
    if (queries.length >= MAX_QUERIES) return queries.slice(0, MAX_QUERIES);
  }
  return queries;
}

/** A word of the file in the form in which words are compared. */
export function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Script=Han}/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return code > 0xffff ? character : String.fromCharCode(SIMPLIFIED[code] ?? code);
    });
}

/** Longer words first. Words of letters and digits match as whole words only, also beside Chinese characters. */
function patternOf(group: SynonymGroup): RegExp {
  const words = group
    .map(plainText)
    .sort((left, right) => right.length - left.length)
    .map((word) => {
      const literal = word.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
      const begins = /^[\p{Script=Latin}\p{N}]/u.test(word) ? String.raw`(?<![\p{Script=Latin}\p{N}])` : '';
      const ends = /[\p{Script=Latin}\p{N}]$/u.test(word) ? String.raw`(?![\p{Script=Latin}\p{N}])` : '';
      return begins + literal + ends;
    });
  return new RegExp(words.join('|'), 'gu');
}
