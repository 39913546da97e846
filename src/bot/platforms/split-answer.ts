import { abortAfter } from '../../shared/abort-after.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { runInThread, threadModule } from '../../shared/process/worker-pool.ts';
import type { MarkdownWriter } from './markdown/markdown-writer.ts';

/** Input of the worker thread. */
export interface SplitJob {
  dialect: 'wecom' | 'slack';
  text: string;
  maxBytes: number;
}

const MODULE = threadModule('./split-thread.js', import.meta.url);
/** Time limit of a split. Even the longest answer takes 0.2 s, whatever its content; the margin is for a busy machine. */
const SPLIT_TIMEOUT_MS = 20 * SECOND_MS;

/** Whether an answer needs more than one message, so that parsing and splitting take time. @param maxBytes of one message */
export function isLongAnswer(text: string, maxBytes: number): boolean {
  return Buffer.byteLength(text) > maxBytes;
}

/**
 * Splits a long answer into messages, like `split`, in a worker thread. If the thread fails, returns neutralised plain text
 * instead.
 */
export async function splitInThread(writer: MarkdownWriter, work: SplitJob): Promise<string[]> {
  const { text, maxBytes } = work;
  const options = { purpose: 'answer', signal: abortAfter(SPLIT_TIMEOUT_MS) } as const;
  const pieces = await runInThread<string[]>(MODULE, work, options).catch(() => writer.splitPlain(text, maxBytes));
  writer.cachePieces(text, pieces);
  return pieces;
}

/**
 * A platform's functions that split a finished text into neutralised messages. Blank pieces are omitted.
 * @param maxMessageBytes `MAX_REPLY_BYTES` of the platform's `render-reply.ts`
 */
export function createSplitter(writer: MarkdownWriter, dialect: SplitJob['dialect'], maxMessageBytes: number) {
  const splitReply = (text: string, reserveBytes = 0) => writer.split(text, maxMessageBytes - reserveBytes);
  /** Like `splitReply` for an answer of any length; long answers are split in a worker thread. */
  const splitAnswer = async (text: string, reserveBytes = 0) =>
    isLongAnswer(text, maxMessageBytes)
      ? splitInThread(writer, { dialect, text, maxBytes: maxMessageBytes - reserveBytes })
      : splitReply(text, reserveBytes);
  return { splitReply, splitAnswer };
}
