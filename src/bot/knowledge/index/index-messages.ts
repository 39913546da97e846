import type { KnowledgeReport } from '../knowledge-report.ts';
import type { LocalHit, LocalQuery, LocalSource } from './local-index.ts';

/** Messages to the index process. The first one is `begin`. */
export type IndexCommand =
  | { kind: 'begin'; folder: string; lookEveryMs?: number }
  | { kind: 'use'; sources: readonly LocalSource[] }
  | { kind: 'search'; id: number; query: LocalQuery };

/** Messages from the index process. */
export type IndexEvent =
  | { kind: 'found'; id: number; hits: readonly LocalHit[] }
  | { kind: 'failed'; id: number }
  | { kind: 'leftOut'; event: Parameters<KnowledgeReport['documentsLeftOut']>[0] }
  | { kind: 'indexed'; event: Parameters<KnowledgeReport['indexed']>[0] };
