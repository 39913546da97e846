import { setTimeout as pause } from 'node:timers/promises';
import type { CallParts } from './call-parts.ts';
import type { ChatRequest, OnChatEvent } from './chat-types.ts';
import { ChatCall } from './chat-call.ts';
import { ChatError } from './chat-error.ts';
import { isModelFault } from './is-model-fault.ts';
import type { BreakerPass, CircuitBreaker } from './circuit-breaker.ts';
import { requestFields, type OptionalField } from './request-body.ts';

/** A question and who hears its answer. */
export interface Question {
  request: ChatRequest;
  signal: AbortSignal;
  onEvent: OnChatEvent;
}

/** What all tries of one question share, whichever model they ask. */
interface Tries {
  made: number;
  deadlineMs: number;
  /** An answer has begun: from then on nothing is asked again. */
  hasSpoken: boolean;
}

/**
 * Asks until an answer begins, and hands it on: nothing was shown before that, so the call may be repeated (SECURITY.md no-second-beginning).
 * Where the request names a fallback, the last try is kept for it: it may be asked when the model rests or its tries have failed.
 * @throws ChatError of the last try
 */
export async function askWithRetries(parts: CallParts, { request, signal, onEvent }: Question): Promise<void> {
  const { maxTries, totalMs } = parts.limits;
  const { fallbackModel, ...own } = request;
  const tries: Tries = { made: 0, deadlineMs: parts.monotonicMs() + totalMs, hasSpoken: false };
  if (fallbackModel === undefined || fallbackModel === own.model)
    return askModel(parts, { request: own, signal, onEvent, tries, mostTries: maxTries });
  try {
    return await askModel(parts, { request: own, signal, onEvent, tries, mostTries: Math.max(1, maxTries - 1) });
  } catch (error) {
    const isOver = tries.hasSpoken || tries.made >= maxTries || parts.monotonicMs() >= tries.deadlineMs;
    if (isOver || !(error instanceof ChatError) || !isModelFault(error)) throw error;
    onEvent({ type: 'fallback', model: fallbackModel });
    const asked = { request: { ...own, model: fallbackModel }, signal, onEvent, tries, mostTries: maxTries };
    return askInstead(parts, asked, { model: own.model, error });
  }
}

/** Where the fallback rests too, what went wrong with the model is the better answer. */
async function askInstead(parts: CallParts, asked: Asked, before: { model: string; error: ChatError }): Promise<void> {
  const { model: fallback, trace } = asked.request;
  let hasBegun = false;
  const onEvent: OnChatEvent = (event) => {
    if (!hasBegun) parts.report.fellBack({ model: before.model, trace, fallback, code: before.error.code });
    hasBegun = true;
    asked.onEvent(event);
  };
  try {
    await askModel(parts, { ...asked, onEvent });
  } catch (error) {
    throw error instanceof ChatError && error.code === 'chat_circuit_open' ? before.error : error;
  }
}

interface Asked extends Question {
  tries: Tries;
  /** How many tries there may have been when this model's are over. */
  mostTries: number;
}

async function askModel(parts: CallParts, { request, signal, onEvent, tries, mostTries }: Asked): Promise<void> {
  const { monotonicMs, retryPolicy, catalog, refusedFields } = parts;
  const { deadlineMs } = tries;
  const { model } = request;
  const wishes: Wishes = { fields: new Set(), wantsThought: false };
  const breaker = parts.breakerOf(request.model);
  let pass = breaker.enter();
  if (tries.made === 0) retryPolicy.earn();
  for (;;) {
    tries.made += 1;
    const fields = requestFields(request, catalog.of(request.model), {
      left: new Set([...refusedFields.of(model), ...wishes.fields]),
      withThought: wishes.wantsThought || refusedFields.wantsThought(model),
    });
    const call = new ChatCall(parts, { request, fields, signal, pass, totalMs: deadlineMs - monotonicMs(), onEvent });
    try {
      await call.run();
      refusedFields.remember(model, wishes);
      return;
    } catch (error) {
      tries.hasSpoken = call.hasSpoken;
      if (!(error instanceof ChatError) || call.hasSpoken) throw error;
      if (isNewWish(error, fields, wishes) && monotonicMs() < deadlineMs) {
        // No try: the service only said how it wants to be asked. It comes to an end, since each time a wish is new.
        for (const field of error.refusedFields) wishes.fields.add(field);
        wishes.wantsThought ||= error.wantsThought;
        tellRefusal(parts, request, error);
        tries.made -= 1;
        pass = enterAgain(breaker, error);
        continue;
      }
      if (tries.made >= mostTries) throw error;
      const waitMs = retryPolicy.pauseBeforeRetry(error, tries.made);
      if (waitMs === undefined || monotonicMs() + waitMs >= deadlineMs) throw error;
      tellRetry(parts, request, { error, waitMs });
      await pauseUnlessCancelled(waitMs, signal);
      pass = enterAgain(breaker, error);
    }
  }
}

function tellRetry(
  { log, report }: CallParts,
  { model, trace }: ChatRequest,
  { error, waitMs }: { error: ChatError; waitMs: number },
): void {
  log.info({ model, trace, code: error.code, status: error.status, waitMs }, 'chat: trying again');
  report.retried({ model, trace, code: error.code, waitMs });
}

/** How the service said that it wants to be asked, within one question. */
interface Wishes {
  fields: Set<OptionalField>;
  wantsThought: boolean;
}

/** Whether the request that was refused can be put differently. */
function isNewWish(
  error: ChatError,
  sent: Readonly<Record<string, unknown>>,
  { fields, wantsThought }: Wishes,
): boolean {
  const isNew = (field: OptionalField) => sent[field] !== undefined && !fields.has(field);
  return error.refusedFields.some(isNew) || (error.wantsThought && !wantsThought);
}

function tellRefusal(
  { log }: CallParts,
  { model, trace }: ChatRequest,
  { status, refusedFields: fields, wantsThought }: ChatError,
): void {
  log.warn(
    { model, trace, status, fields, wantsThought },
    'chat: the model is asked in another way, since its engine refused',
  );
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
