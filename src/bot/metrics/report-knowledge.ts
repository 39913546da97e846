import type { Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { KnowledgeReport } from '../knowledge/knowledge-report.ts';
import { census, counter, durations, gauge, QUICK_BUCKETS_SEC } from './instruments.ts';

/** Maximum characters of a file name in the log. */
const MAX_PATH_CHARS = 80;

export function reportKnowledge(registry: Registry, log: Log): KnowledgeReport {
  const failures = counter(registry, {
    name: 'knowledge_source_failures_total',
    help: "Searches of the institution's documents without one of the sources, by the fault of that source",
    labels: ['source', 'fault'],
  });
  const leftOut = gauge(registry, {
    name: 'knowledge_left_out_documents',
    help: 'Files in all folders that are not documents or could not be read',
  });
  const documents = gauge(registry, { name: 'knowledge_documents', help: 'Documents in the local index' });
  const memory = gauge(registry, {
    name: 'knowledge_index_memory_bytes',
    help: 'Resident memory of the local index process after it last indexed documents',
  });
  const restarts = counter(registry, {
    name: 'knowledge_index_ends_total',
    help: 'Unexpected ends of the local index process',
  });
  const searches = durations(registry, {
    name: 'knowledge_search_seconds',
    help: "Searches of the institution's documents, over all sources",
    bucketsSec: QUICK_BUCKETS_SEC,
  });
  const sitePages = census(registry, {
    name: 'knowledge_site_documents',
    help: 'Stored pages of a site after its last crawl',
    label: 'source',
  });
  const siteRounds = counter(registry, {
    name: 'knowledge_site_rounds_total',
    help: 'Crawls of a site, by outcome: ok, or the fault of the site',
    labels: ['source', 'outcome'],
  });
  const counts = new Map<string, number>();
  const pagesOf = new Map<string, number>();
  return {
    sourceFailed({ source, fault }) {
      failures({ source, fault });
      log.warn({ source, fault }, 'a search ran without one of the document sources');
    },
    documentsLeftOut({ source, reasons }) {
      counts.set(
        source,
        reasons.reduce((sum, { count }) => sum + count, 0),
      );
      leftOut([...counts.values()].reduce((sum, count) => sum + count, 0));
      for (const { reason, count, first } of reasons)
        log.warn(
          { source, reason, count, first: first.slice(-MAX_PATH_CHARS) },
          'files of a source are not documents or cannot be read',
        );
    },
    indexed(size) {
      documents(size.documents);
      memory(size.memoryBytes);
      log.info(size, 'documents were indexed');
    },
    indexEnded(event) {
      restarts({});
      log.error(event, 'the document index process ended unexpectedly; Parley starts another');
    },
    siteRead({ source, fault, leftOut: reasons, durationMs, ...read }) {
      siteRounds({ source, outcome: fault ?? 'ok' });
      sitePages(pagesOf.set(source, read.pages));
      const durationSec = Math.round(durationMs / SECOND_MS);
      if (fault === undefined) log.info({ source, ...read, durationSec }, 'a site was crawled');
      else
        log.warn(
          { source, fault, ...read, durationSec },
          'a site could not be crawled completely; its stored pages stay in use',
        );
      for (const { reason, count, first } of reasons)
        log.warn({ source, reason, count, first: first.slice(-MAX_PATH_CHARS) }, 'pages of a site were skipped');
    },
    searched({ sources, found, durationMs }) {
      searches({}, durationMs);
      log.debug({ sources, found, durationMs }, 'documents were searched');
    },
  };
}
