import { setTimeout as pause } from 'node:timers/promises';
import type { CallParts } from './call-parts.ts';
import type { ChatEvent, ChatRequest } from './chat-types.ts';
import { ChatCall } from './chat-call.ts';
import { ChatError } from './chat-error.ts';
import type { BreakerPass, CircuitBreaker } from './circuit-breaker.ts';
import { requestBody } from './request-body.ts';

/** An answer that has begun. */
export interface Answer {
  call: ChatCall;
  firstEvents: ChatEvent[] | undefined;
}

/**
 * Asks until an answer begins: nothing has been shown before that, so the call may be repeated (security.md 5.3).
 * @returns the answer with its first events. @throws ChatError of the last try
 */
export async function askWithRetries(parts: CallParts, request: ChatRequest, signal: AbortSignal): Promise<Answer> {
  const { limits, nowMs, retryPolicy } = parts;
  const breaker = parts.breakerOf(request.model);
  const body = requestBody(request);
  const deadlineMs = nowMs() + limits.totalMs;
  let pass = breaker.enter();
  retryPolicy.earn();
  for (let tries = 1; ; tries += 1) {
    const call = new ChatCall(parts, { request, body, signal, pass, totalMs: deadlineMs - nowMs() });
    try {
      return { call, firstEvents: await call.start() };
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      const waitMs = retryPolicy.pauseBeforeRetry(error, tries);
      if (waitMs === undefined || nowMs() + waitMs >= deadlineMs) throw error;
      tellRetry(parts, request.model, { error, waitMs });
      await pauseUnlessCancelled(waitMs, signal);
      pass = enterAgain(breaker, error);
    }
  }
}

function tellRetry(
  { log, report }: CallParts,
  model: string,
  { error, waitMs }: { error: ChatError; waitMs: number },
): void {
  log.info({ model, code: error.code, status: error.status, waitMs }, 'chat: trying again');
  report.retried({ model, code: error.code, waitMs });
}

/** The breaker may have opened meanwhile; then what went wrong is the better answer than that it is open. */
function enterAgain(breaker: CircuitBreaker, before: ChatError): BreakerPass {
  try {
    return breaker.enter();
  } catch {
    throw before;
  }
}

async function pauseUnlessCancelled(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(waitMs, undefined, { signal });
  } catch {
    throw new ChatError('chat_cancelled', 'The chat call was cancelled');
  }
}
