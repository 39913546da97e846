import type { EngineHeaders } from './engine-headers.ts';
import { plainModel, type ModelEntry } from './model-entry.ts';

/** The models of a deployment, by name. */
export interface ModelCatalog {
  /** The entry with this name; a default entry for a model that the file does not list. */
  of(name: string): ModelEntry;
  /** Whether the file lists this model. */
  lists(name: string): boolean;
  /** All entries of the file, in order. */
  readonly entries: readonly ModelEntry[];
}

/** Maximum share of the context that is reserved for the answer. */
const ANSWER_SHARE = 0.25;

/** Maximum tokens of a prompt for this model: what its context leaves beside the answer, or `unknownTokens`. */
export function promptRoom({ contextTokens, answerTokens }: ModelEntry, unknownTokens: number): number {
  if (contextTokens === undefined) return unknownTokens;
  const forAnswer = Math.min(answerTokens ?? Number.POSITIVE_INFINITY, contextTokens * ANSWER_SHARE);
  return Math.floor(contextTokens - forAnswer);
}

/** Headers of requests for no listed model, such as the one for the list: all entries have the same engine. */
export function commonHeaders({ entries }: Pick<ModelCatalog, 'entries'>): EngineHeaders {
  return entries.find(({ headers }) => Object.keys(headers).length > 0)?.headers ?? {};
}

/** Headers of a request for a model, by its own name or the engine's; without a name, of one for the list of models. */
export function headersAt(catalog: Pick<ModelCatalog, 'entries'>, upstream: string | undefined): EngineHeaders {
  if (upstream === undefined) return commonHeaders(catalog);
  return catalog.entries.find(({ name, upstream: there }) => [name, there].includes(upstream))?.headers ?? {};
}

export function createModelCatalog(entries: readonly ModelEntry[]): ModelCatalog {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    entries,
    lists: (name) => byName.has(name),
    of: (name) => byName.get(name) ?? plainModel(name),
  };
}
