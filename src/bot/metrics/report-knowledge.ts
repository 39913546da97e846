import type { Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { NOT_A_DOCUMENT, type KnowledgeReport, type SkippedFiles } from '../knowledge/knowledge-report.ts';
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
    help: 'Files in all folders whose type is not read',
  });
  const unread = gauge(registry, {
    name: 'knowledge_unread_documents',
    help: 'Documents in all folders that could not be read: broken, encrypted, too large, or beyond a limit',
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
  const skipped = new Map<string, { others: number; unread: number }>();
  const total = (kind: 'others' | 'unread') => [...skipped.values()].reduce((sum, counts) => sum + counts[kind], 0);
  const pagesOf = new Map<string, number>();
  return {
    sourceFailed({ source, fault }) {
      failures({ source, fault });
      log.warn({ source, fault }, 'a search ran without one of the document sources');
    },
    documentsLeftOut({ source, reasons }) {
      const others = sumOf(reasons.filter(isOther));
      skipped.set(source, { others, unread: sumOf(reasons) - others });
      leftOut(total('others'));
      unread(total('unread'));
      for (const skip of reasons) {
        const fields = { source, ...skip, first: skip.first.slice(-MAX_PATH_CHARS) };
        if (isOther(skip)) log.info(fields, 'files of a source have a type that is not read');
        else log.warn(fields, 'documents of a source could not be read');
      }
    },
    indexed(size) {
      documents(size.documents);
      memory(size.memoryBytes);
      log.info({ ...size, unread: total('unread'), others: total('others') }, 'documents were indexed');
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

function isOther({ reason }: SkippedFiles): boolean {
  return reason === NOT_A_DOCUMENT;
}

function sumOf(reasons: readonly SkippedFiles[]): number {
  return reasons.reduce((sum, { count }) => sum + count, 0);
}
