import { anywhereTerms, eachTerm, isStopTerm, queryTerms } from './search-terms.ts';
import { isWord, type Term } from './word-terms.ts';

/** A word to look up. */
export interface QueryWord {
  /** The word's term, and those of longer words that contain it: CS and CS101. */
  anyOf: readonly [Term, ...Term[]];
  /** Looked up instead if no document contains any of `anyOf`. */
  orElse?: Term;
  /** Counts only if some document contains it. */
  isOptional?: boolean;
}

/**
 * Chinese phrases that ask instead of naming something, with the unit behind 多少 and 几. Pairs across them, such as 本书 in
 * 多少本书, would find passages by chance.
 */
const ASKING =
  /我们?可以|可不可以|能不能|多少[本个张次天台条份册]?|几[本个张次天台条份册点号]|(?:是)?什么时候|(?:应该|要)?(?:怎么样?|怎样|如何)/g;

/** The words to look up for a question, each in its exact form if it has one. @param most maximum number of words */
export function queryWords(question: string, maxTerms: number): QueryWord[] {
  const query = question.normalize('NFKC').replace(ASKING, ' ');
  const plain = new Set<Term>();
  /** Keyed by the base term. */
  const exact = new Map<Term, Set<Term>>();
  const joined = new Map<Term, Set<Term>>();
  const signedIdle = new Set<Term>();
  const paired = new Set<Term>();
  let form: Term | undefined;
  const add = (forms: Map<Term, Set<Term>>, term: Term, one: Term) =>
    forms.set(term, (forms.get(term) ?? new Set()).add(one));
  eachTerm(
    query,
    (term) => {
      if (form === undefined) {
        plain.add(term);
        for (const one of anywhereTerms(term)) paired.add(one);
      } else if (!isStopTerm(term)) add(exact, term, form);
      // A+ is meaningful, unlike A.
      else if (isWord(form)) signedIdle.add(form);
      form = undefined;
    },
    (found, kind, parts) => {
      if (kind === 'joined') for (const part of parts ?? []) add(joined, part, found);
      else if (kind !== 'text') form = found;
    },
  );
  const words = queryTerms(query, maxTerms).flatMap((term): QueryWord[] => {
    const longer = [...(joined.get(term) ?? [])];
    // An ideograph that also occurs in a longer word of the question is not a separate word.
    const forms = [...(exact.get(term) ?? [])].filter((one) => !paired.has(one));
    return [
      ...(plain.has(term) || forms.length === 0 ? [{ anyOf: [term, ...longer] } as const] : []),
      ...forms.map((one) => ({ anyOf: [one, ...longer] as const, orElse: term })),
    ];
  });
  return [...words, ...[...signedIdle].map((one) => ({ anyOf: [one] as const, isOptional: true }))].slice(0, maxTerms);
}
