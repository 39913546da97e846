import { abortAfter } from '../../shared/abort-after.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { abortable } from '../../shared/abortable.ts';
import { checkDify } from './dify/check-dify.ts';
import { checkFolder } from './folder/check-folder.ts';
import { checkSite } from './site/check-site.ts';
import type { CheckSource, SourceFinding } from './source-check.ts';
import type { SourceDefinition } from './source-kinds.ts';

type Kind = SourceDefinition['kind'];

const CHECKS: { readonly [K in Kind]: CheckSource<Extract<SourceDefinition, { kind: K }>> } = {
  folder: checkFolder,
  dify: checkDify,
  sitemap: checkSite,
};

/** Longer than an answer would wait, because a folder may be on a slow disk. Network checks have a shorter limit. */
const CHECK_LIMIT_MS = 30 * SECOND_MS;

export interface CheckedSource extends SourceFinding {
  source: string;
}

/** Checks all sources of `KNOWLEDGE_FILE` in parallel. Read-only. */
export async function checkSources(sources: readonly SourceDefinition[]): Promise<CheckedSource[]> {
  return Promise.all(sources.map(checkOne));
}

async function checkOne(source: SourceDefinition): Promise<CheckedSource> {
  const check = CHECKS[source.kind] as CheckSource<SourceDefinition>;
  const signal = abortAfter(CHECK_LIMIT_MS);
  try {
    return { source: source.name, ...(await abortable(check(source, signal), signal)) };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { source: source.name, verdict: 'fault', detail: 'no result in time' };
  }
}
