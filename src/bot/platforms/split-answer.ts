import { SECOND_MS } from '../../shared/clock.ts';
import { inThread, threadModule } from '../../shared/process/worker-pool.ts';
import type { MarkdownWriter } from './markdown/markdown-writer.ts';

/** What the thread is given. */
export interface SplitWork {
  dialect: 'wecom' | 'slack';
  text: string;
  maxBytes: number;
}

const MODULE = threadModule('./split-thread.js', import.meta.url);
/** Cutting the longest answer takes a fifth of a second, whatever it is made of; the rest is for a machine that is busy. */
const MOST_MS = 20 * SECOND_MS;

/** Whether an answer needs more than one message, so that it takes time to read and to cut it. @param maxBytes of one message */
export function isLongAnswer(text: string, maxBytes: number): boolean {
  return Buffer.byteLength(text) > maxBytes;
}

/**
 * Cuts a long answer into messages, like `pieces`, in a thread; should that come to nothing, it is shown as plain text, neutralised,
 * rather than not at all.
 */
export async function splitInThread(writer: MarkdownWriter, work: SplitWork): Promise<string[]> {
  const { text, maxBytes } = work;
  const options = { purpose: 'answer', signal: AbortSignal.timeout(MOST_MS) } as const;
  const pieces = await inThread<string[]>(MODULE, work, options).catch(() => writer.plainPieces(text, maxBytes));
  writer.knowPieces(text, pieces);
  return pieces;
}
