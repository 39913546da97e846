import { anywhereTerms, eachTerm, isIdle, queryTerms } from './search-terms.ts';
import { isWord, type Term } from './word-terms.ts';

/** A word to look up. */
export interface QueryWord {
  /** The word's term, and those of longer words that it is written in: CS and CS101. */
  anyOf: readonly [Term, ...Term[]];
  /** Looked up where no document has one of them. */
  orElse?: Term;
  /** Counts only where some document has it. */
  isOptional?: boolean;
}

/** The words that a question looks up, each in its exact form where it has one. @param most further ones are left out */
export function queryWords(query: string, most: number): QueryWord[] {
  const plain = new Set<Term>();
  /** By the term that they are forms of. */
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
      } else if (!isIdle(term)) add(exact, term, form);
      // A+ says something, other than A.
      else if (isWord(form)) signedIdle.add(form);
      form = undefined;
    },
    (found, kind, parts) => {
      if (kind === 'joined') for (const part of parts ?? []) add(joined, part, found);
      else if (kind !== 'text') form = found;
    },
  );
  const words = queryTerms(query, most).flatMap((term): QueryWord[] => {
    const longer = [...(joined.get(term) ?? [])];
    // An ideograph that the question also has in a longer word is no word of its own.
    const forms = [...(exact.get(term) ?? [])].filter((one) => !paired.has(one));
    return [
      ...(plain.has(term) || forms.length === 0 ? [{ anyOf: [term, ...longer] } as const] : []),
      ...forms.map((one) => ({ anyOf: [one, ...longer] as const, orElse: term })),
    ];
  });
  return [...words, ...[...signedIdle].map((one) => ({ anyOf: [one] as const, isOptional: true }))].slice(0, most);
}
