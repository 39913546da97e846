import { join } from 'node:path';
import { abortAfter } from '../../shared/abort-after.ts';
import { monotonicMs, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { hashParts } from '../../shared/crypto/ids.ts';
import { abortable } from '../../shared/abortable.ts';
import type { LocalHit, LocalIndex, LocalQuery } from './index/local-index.ts';
import { IndexProcess, type IndexProcessOptions } from './index/index-process.ts';
import type { Found, Knowledge } from './knowledge.ts';
import { parseKnowledgeFile, type KnowledgeFile } from './knowledge-file.ts';
import { createDifySource } from './dify/dify-source.ts';
import type { KnowledgeReport } from './knowledge-report.ts';
import { mayRead, type Reader } from './readers.ts';
import { SourceError } from './remote-source.ts';
import { withSynonyms } from './synonyms.ts';
import { SiteKeeper, type SiteKeeperParts } from './site/site-keeper.ts';
import { PUBLIC_WEB } from '../../shared/web/egress-policy.ts';

export interface KnowledgeParts {
  /** Where the index is stored between restarts. The index is rebuilt if this folder is not writable. */
  folder: string;
  /** Opens the index of local documents. Defaults to a separate process; tests may run it in this one. */
  openIndex?(options: IndexProcessOptions): LocalIndex;
  report: KnowledgeReport;
  nowMs: NowMs;
  /** Set in a process that searches the index of its parent: it opens none, and reads no sites. */
  searchParent?: SearchLocal;
  /** Overrides for tests. */
  sites?: Partial<SiteKeeperParts>;
}

/** Searches the index of local documents. @throws Error if it is not available */
export type SearchLocal = (query: LocalQuery, signal: AbortSignal) => Promise<LocalHit[]>;

/** The knowledge sources of this process, across reloads of `KNOWLEDGE_FILE`. */
export interface KnowledgeLoader {
  /**
   * Parses the file's text.
   * @param path location of the file
   * @returns `knowledge`, which new turns search, and `takeOver`, which activates the sources; removed sources are then no
   * longer searched by any turn
   * @throws ConfigFileError
   */
  read(text: string, path: string): { knowledge: Knowledge; takeOver(): void };
  /** For processes that have no index. */
  searchLocal: SearchLocal;
  close(): Promise<void>;
}

const MAX_FOUND = 8;
/** A user waits for the answer. Later results are dropped. */
const SEARCH_LIMIT_MS = 5 * SECOND_MS;
const MAX_QUERY_CHARS = 1_000;

/** Opens the index and reads sites only when a file with folders or sites is activated. */
export function createKnowledge(parts: KnowledgeParts): KnowledgeLoader {
  const { folder, report, nowMs, openIndex = openProcess, searchParent } = parts;
  const { resolve } = PUBLIC_WEB;
  const sites = new SiteKeeper({ folder: join(folder, 'pages'), report, nowMs, resolve, ...parts.sites });
  let local: LocalIndex | undefined;
  const takeOver = ({ sources }: KnowledgeFile) => {
    if (searchParent) return;
    const pages = sites.use(sources.filter((source) => source.kind === 'sitemap'));
    const here = [...sources.filter((source) => source.kind === 'folder'), ...pages];
    if (here.length > 0) local ??= openIndex({ folder, report });
    local?.use(here);
  };
  const searchLocal: SearchLocal = async (query, signal) => {
    if (searchParent) return searchParent(query, signal);
    if (!local) throw new SourceError('away', 'The index is unavailable');
    return local.search(query, signal);
  };
  return {
    read(text, path) {
      const file = parseKnowledgeFile(text, path);
      return { knowledge: knowledgeOf(file, searchLocal, report), takeOver: () => takeOver(file) };
    },
    searchLocal,
    async close() {
      await Promise.all([sites.close(), local?.close()]);
    },
  };
}

const openProcess = (options: IndexProcessOptions) => new IndexProcess(options);

/** One backend of a search. All backends are queried in parallel. */
interface Asked {
  /** The sources that this backend covers. */
  names: readonly string[];
  search(query: string, reader: Reader, signal: AbortSignal): Promise<Found[]>;
}

function knowledgeOf(
  { sources, synonyms }: KnowledgeFile,
  searchLocal: SearchLocal,
  report: KnowledgeReport,
): Knowledge {
  const remote = sources.flatMap((source) => (source.kind === 'dify' ? [createDifySource(source)] : []));
  const here = sources.filter(({ kind }) => kind !== 'dify').map(({ name }) => name);
  const searchHere = async (names: readonly string[], query: string, reader: Reader, signal: AbortSignal) => {
    const lists = await Promise.all(
      withSynonyms(query, synonyms).map((one) =>
        searchLocal({ query: one, reader, sources: names, limit: MAX_FOUND }, signal),
      ),
    );
    const hits = bestHits(lists);
    // The index already filtered by reader. The second check ensures that an index bug cannot leak a document (SECURITY.md
    // knowledge-rights).
    return hits.filter(({ readers }) => mayRead(readers, reader)).map(foundOf);
  };
  const askedFor = (only: readonly string[] | undefined): Asked[] => {
    const counts = (name: string) => !only || only.includes(name);
    const names = here.filter(counts);
    const parts: Asked[] = remote
      .filter(({ name }) => counts(name))
      .map((source) => ({
        names: [source.name],
        search: (query, reader, signal) => source.search(query, reader, MAX_FOUND, signal),
      }));
    if (names.length > 0) parts.unshift({ names, search: (...asking) => searchHere(names, ...asking) });
    return parts;
  };
  return {
    hasSources: sources.length > 0,
    async search(query, reader, signal, only) {
      signal.throwIfAborted();
      const beganMs = monotonicMs();
      const asked = askedFor(only);
      const cut = query.slice(0, MAX_QUERY_CHARS);
      const lists = await Promise.all(asked.map((part) => askWithin(part, cut, reader, signal, report)));
      const found = interleave(lists).slice(0, MAX_FOUND);
      const count = asked.reduce((sum, { names }) => sum + names.length, 0);
      report.searched({ sources: count, found: found.length, durationMs: monotonicMs() - beganMs });
      return found;
    },
  };
}

/** Searches within the time limit. A backend that fails is left out and reported. @throws the signal's reason */
async function askWithin(
  { names, search }: Asked,
  query: string,
  reader: Reader,
  signal: AbortSignal,
  report: KnowledgeReport,
): Promise<Found[]> {
  const ending = abortAfter(SEARCH_LIMIT_MS, signal);
  try {
    return await abortable(search(query, reader, ending), ending);
  } catch (error) {
    signal.throwIfAborted();
    const fault = ending.aborted ? 'late' : error instanceof SourceError ? error.code : 'away';
    for (const source of names) report.sourceFailed({ source, fault });
    return [];
  }
}

/** The best hit of each document, best first. Scores of one index are comparable. */
function bestHits([first = [], ...others]: readonly LocalHit[][]): LocalHit[] {
  if (others.length === 0) return first;
  const best = new Map<string, LocalHit>();
  for (const hit of [...first, ...others.flat()]) {
    const key = hashParts(hit.source, hit.path);
    if (hit.score > (best.get(key)?.score ?? -1)) best.set(key, hit);
  }
  return [...best.values()].sort((left, right) => right.score - left.score);
}

/** Interleaves the lists: the best hit of each, then the second of each. Scores of different sources are not comparable. */
function interleave(lists: readonly (readonly Found[])[]): Found[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat();
}

function foundOf({ source, path, title, place, text, url, date, score }: LocalHit): Found {
  const documentId = hashParts(source, path).slice(0, ID_CHARS);
  return { documentId, source, title, place: place || undefined, text, url, date, score };
}

const ID_CHARS = 16;
