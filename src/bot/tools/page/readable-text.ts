import { runInThread } from '../../../shared/process/worker-pool.ts';
import { ToolError } from '../tool-error.ts';

export interface ReadableText {
  title: string;
  text: string;
}

const MODULE = new URL('./readable-text-worker.mjs', import.meta.url);

/** Extracts readable text from HTML off the event loop. @throws ToolError `unusable`, or the signal's reason */
export async function readableText(html: string, signal: AbortSignal): Promise<ReadableText> {
  try {
    return await runInThread<ReadableText>(MODULE, { html }, { purpose: 'page', signal });
  } catch {
    signal.throwIfAborted();
    throw new ToolError('unusable', 'The page cannot be read.');
  }
}
