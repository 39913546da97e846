import { monotonicMs, SECOND_MS } from '../base/clock.ts';
import { hashParts } from '../base/ids.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { LocalHit, LocalIndex } from './index/local-index.ts';
import { IndexProcess, type IndexProcessOptions } from './index/index-process.ts';
import type { Found, Knowledge } from './knowledge.ts';
import { parseKnowledgeFile, type KnowledgeFile } from './knowledge-file.ts';
import type { KnowledgeReport, SourceFault } from './knowledge-report.ts';
import { mayRead, type Reader } from './readers.ts';

export interface KnowledgeParts {
  /** Where the index is kept from one start to the next; where it cannot be, it is made anew. */
  folder: string;
  /** Opens the index of what is on this machine; in a process of its own but in tests. */
  openIndex?(options: IndexProcessOptions): LocalIndex;
  report: KnowledgeReport;
}

/** The sources of this process, over all versions of `KNOWLEDGE_FILE`. */
export interface KeptKnowledge {
  /**
   * Reads the file's text. @param path where it stands
   * @returns what turns that begin from now on ask, and what takes the sources over: what is not named any more is searched no more,
   * whoever asks @throws ConfigFileError
   */
  read(text: string, path: string): { knowledge: Knowledge; takeOver(): void };
  close(): Promise<void>;
}

const MOST_FOUND = 8;
/** Somebody waits for the answer; what comes later is left out. */
const SEARCH_LIMIT_MS = 5 * SECOND_MS;
const MOST_QUERY_CHARS = 1_000;

/** Nothing is read or started before a file with sources is taken over. */
export function createKnowledge({ folder, report, openIndex = openProcess }: KnowledgeParts): KeptKnowledge {
  let local: LocalIndex | undefined;
  const takeOver = ({ sources }: KnowledgeFile) => {
    if (sources.length > 0) local ??= openIndex({ folder, report });
    local?.use(sources);
  };
  return {
    read(text, path) {
      const file = parseKnowledgeFile(text, path);
      return { knowledge: knowledgeOf(file, () => local, report), takeOver: () => takeOver(file) };
    },
    close: async () => local?.close(),
  };
}

const openProcess = (options: IndexProcessOptions) => new IndexProcess(options);

function knowledgeOf(
  { sources }: KnowledgeFile,
  local: () => LocalIndex | undefined,
  report: KnowledgeReport,
): Knowledge {
  return {
    hasSources: sources.length > 0,
    async search(query, reader, signal, only) {
      signal.throwIfAborted();
      const beganMs = monotonicMs();
      const asked = sources.map(({ name }) => name).filter((name) => !only || only.includes(name));
      const found =
        asked.length === 0 ? [] : await searchLocal(query.slice(0, MOST_QUERY_CHARS), reader, signal, asked);
      report.searched({ sources: asked.length, found: found.length, durationMs: monotonicMs() - beganMs });
      return found;
    },
  };

  async function searchLocal(query: string, reader: Reader, signal: AbortSignal, asked: string[]): Promise<Found[]> {
    const ending = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_LIMIT_MS)]);
    const fail = (fault: SourceFault) => asked.forEach((source) => report.sourceFailed({ source, fault }));
    const index = local();
    if (!index) {
      fail('away');
      return [];
    }
    try {
      const hits = await unlessAborted(
        index.search({ query, reader, sources: asked, most: MOST_FOUND }, ending),
        ending,
      );
      // Judged before the best were taken; whatever goes wrong there, nothing else leaves here (SECURITY.md knowledge-rights).
      return hits.filter(({ readers }) => mayRead(readers, reader)).map(foundOf);
    } catch {
      signal.throwIfAborted();
      fail(ending.aborted ? 'late' : 'away');
      return [];
    }
  }
}

function foundOf({ source, path, title, place, text, url, date, score }: LocalHit): Found {
  const documentId = hashParts(source, path).slice(0, ID_CHARS);
  return { documentId, source, title, place: place || undefined, text, url, date, score };
}

const ID_CHARS = 16;
