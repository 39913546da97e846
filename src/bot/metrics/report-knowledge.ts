import type { Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { KnowledgeReport } from '../knowledge/knowledge-report.ts';
import { census, counter, durations, gauge, QUICK_BUCKETS_SEC } from './instruments.ts';

/** Names of files are shown so far; a log is no place for more of them. */
const MOST_PATH_CHARS = 80;

export function reportKnowledge(registry: Registry, log: Log): KnowledgeReport {
  const failures = counter(registry, {
    name: 'knowledge_source_failures_total',
    help: 'Searches of the institution’s documents that went without a source, by what was wrong with it',
    labels: ['source', 'fault'],
  });
  const leftOut = gauge(registry, {
    name: 'knowledge_left_out_documents',
    help: 'Files of all folders that are no documents, or none that could be read',
  });
  const documents = gauge(registry, { name: 'knowledge_documents', help: 'Documents in the local index' });
  const memory = gauge(registry, {
    name: 'knowledge_index_memory_bytes',
    help: 'Resident memory of the process of the local index, when it last took documents in',
  });
  const restarts = counter(registry, {
    name: 'knowledge_index_ends_total',
    help: 'Times that the process of the local index ended by itself',
  });
  const searches = durations(registry, {
    name: 'knowledge_search_seconds',
    help: 'Searches of the institution’s documents, all sources together',
    bucketsSec: QUICK_BUCKETS_SEC,
  });
  const sitePages = census(registry, {
    name: 'knowledge_site_documents',
    help: 'Pages that are kept of a site, when it was last read',
    label: 'source',
  });
  const siteRounds = counter(registry, {
    name: 'knowledge_site_rounds_total',
    help: 'Rounds over a site’s pages, by what became of them: ok, or what was wrong with the site',
    labels: ['source', 'outcome'],
  });
  const counts = new Map<string, number>();
  const pagesOf = new Map<string, number>();
  return {
    sourceFailed({ source, fault }) {
      failures({ source, fault });
      log.warn({ source, fault }, 'a search went without a source of documents');
    },
    documentsLeftOut({ source, reasons }) {
      counts.set(
        source,
        reasons.reduce((sum, { count }) => sum + count, 0),
      );
      leftOut([...counts.values()].reduce((sum, count) => sum + count, 0));
      for (const { reason, count, first } of reasons)
        log.warn(
          { source, reason, count, first: first.slice(-MOST_PATH_CHARS) },
          'files of a source are no documents, or cannot be read',
        );
    },
    indexed(size) {
      documents(size.documents);
      memory(size.memoryBytes);
      log.info(size, 'documents were indexed');
    },
    indexEnded(event) {
      restarts({});
      log.error(event, 'the process of the document index ended by itself; another one is started');
    },
    siteRead({ source, fault, leftOut: reasons, durationMs, ...read }) {
      siteRounds({ source, outcome: fault ?? 'ok' });
      sitePages(pagesOf.set(source, read.pages));
      const durationSec = Math.round(durationMs / SECOND_MS);
      if (fault === undefined) log.info({ source, ...read, durationSec }, 'a site was read');
      else
        log.warn({ source, fault, ...read, durationSec }, 'a site could not be read whole; what is kept of it stays');
      for (const { reason, count, first } of reasons)
        log.warn({ source, reason, count, first: first.slice(-MOST_PATH_CHARS) }, 'pages of a site are left out');
    },
    searched({ sources, found, durationMs }) {
      searches({}, durationMs);
      log.debug({ sources, found, durationMs }, 'documents were searched');
    },
  };
}
