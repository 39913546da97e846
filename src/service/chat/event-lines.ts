import { asChatApiError } from './chat-api-error.ts';

export interface EventLinesOptions {
  /** Fires when the client has gone. */
  signal: AbortSignal;
  /** Called once, with how the stream ended, before the last line is handed out. */
  finish: (outcome: string) => void;
}

/**
 * Writes chunks as the `data:` lines of a stream, with `data: [DONE]` at the end.
 * A failure in between is told as one line with the error object and no `[DONE]`: the client must not take the answer for complete.
 */
export async function* eventLines(
  first: IteratorResult<object>,
  chunks: AsyncIterator<object>,
  { signal, finish }: EventLinesOptions,
): AsyncGenerator<string> {
  let outcome = 'left';
  try {
    for (let step = first; !step.done; step = await chunks.next()) yield line(step.value);
    outcome = 'answered';
  } catch (thrown) {
    if (signal.aborted) return;
    const error = asChatApiError(thrown);
    outcome = error.code;
    yield line(error.toBody());
  } finally {
    finish(outcome);
    await chunks.return?.();
  }
  if (outcome === 'answered') yield 'data: [DONE]\n\n';
}

function line(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
