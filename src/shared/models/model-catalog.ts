import { plainModel, type ModelEntry } from './model-entry.ts';

/** What is known of the models of a deployment, by their names. */
export interface ModelCatalog {
  /** A model of this name; one that the file does not list is plain. */
  of(name: string): ModelEntry;
  /** Whether the file says anything of it. */
  lists(name: string): boolean;
  /** All that the file lists, in its order. */
  readonly entries: readonly ModelEntry[];
}

/** Of a context, so much is left for the answer where the entry does not say how long that may be. */
const ANSWER_SHARE = 0.25;

/** Tokens that a prompt for this model may take, of `mostTokens` at most. */
export function promptRoom({ contextTokens, answerTokens }: ModelEntry, mostTokens: number): number {
  if (contextTokens === undefined) return mostTokens;
  const forAnswer = Math.min(answerTokens ?? Number.POSITIVE_INFINITY, contextTokens * ANSWER_SHARE);
  return Math.min(mostTokens, Math.floor(contextTokens - forAnswer));
}

export function createModelCatalog(entries: readonly ModelEntry[]): ModelCatalog {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    entries,
    lists: (name) => byName.has(name),
    of: (name) => byName.get(name) ?? plainModel(name),
  };
}
