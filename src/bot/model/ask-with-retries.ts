import { Admission, pauseUnlessCancelled, throwIfCancelled } from './admission.ts';
import type { CallParts } from './call-parts.ts';
import type { ChatRequest, OnChatEvent } from './chat-types.ts';
import { ChatCall } from './chat-call.ts';
import type { BreakerPass } from './circuit-breaker.ts';
import type { CapacityPermit } from './engine-capacity.ts';
import { ChatError, type ChatErrorCode } from './chat-error.ts';
import { requestFields, type OptionalField } from './request-body.ts';

/** Faults of this model or its service that another model may not have; the question and the user did not cause them. */
const FAULTS = new Set<ChatErrorCode>([
  'chat_unreachable',
  'chat_timeout',
  'chat_rate_limited',
  'chat_quota_spent',
  'chat_loading',
  'chat_unknown_model',
  'chat_server_error',
  'chat_bad_stream',
  'chat_stalled',
  'chat_truncated',
  'chat_circuit_open',
]);

/** Whether a retry with another model makes sense. A refused key (401) affects all models. */
function isModelFault({ code, status }: ChatError): boolean {
  return FAULTS.has(code) || (code === 'chat_refused' && status === 403);
}

/** A question and the listener for its answer. */
export interface Question {
  request: ChatRequest;
  signal: AbortSignal;
  onEvent: OnChatEvent;
}

/** State shared by all attempts of one question, for either model. */
interface Tries {
  made: number;
  deadlineMs: number;
  /** An answer has begun; from then on there are no retries. */
  hasSpoken: boolean;
}

/**
 * Calls the model until an answer begins, and streams it to the listener. Nothing was shown before that point, so the call
 * may be repeated (SECURITY.md no-second-beginning). If the request names a fallback, the last attempt is reserved for it:
 * it is called when the model's breaker is open or its attempts have failed.
 * @throws ChatError of the last attempt
 */
export async function askWithRetries(parts: CallParts, { request, signal, onEvent }: Question): Promise<void> {
  const { maxTries, totalMs } = parts.limits;
  const { fallbackModel } = request;
  // A model that loads slowly, or is silent while it runs tools, gets this time in addition to the time for its answer.
  const { firstByteMs = 0, idleMs = 0 } = parts.catalog.of(request.model);
  const tries: Tries = { made: 0, deadlineMs: parts.monotonicMs() + totalMs + firstByteMs + idleMs, hasSpoken: false };
  if (fallbackModel === undefined || fallbackModel === request.model)
    return askModel(parts, { request, signal, onEvent, tries, maxTries, hasFallback: false });
  try {
    const firstTries = Math.max(1, maxTries - 1);
    return await askModel(parts, { request, signal, onEvent, tries, maxTries: firstTries, hasFallback: true });
  } catch (error) {
    const isOver = tries.hasSpoken || tries.made >= maxTries || parts.monotonicMs() >= tries.deadlineMs;
    if (isOver || !(error instanceof ChatError) || !isModelFault(error)) throw error;
    onEvent({ type: 'fallback', model: fallbackModel });
    const asked = {
      request: { ...request, model: fallbackModel },
      signal,
      onEvent,
      tries,
      maxTries,
      hasFallback: false,
    };
    return askFallback(parts, asked, { model: request.model, error });
  }
}

/** If the breaker of the fallback is open too, the error of the original model is more useful. */
async function askFallback(parts: CallParts, asked: Asked, before: { model: string; error: ChatError }): Promise<void> {
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
  /** Total attempts of the question after which this model is not called again. */
  maxTries: number;
  /** A fallback is called when this model is unavailable. */
  hasFallback: boolean;
}

async function askModel(parts: CallParts, asked: Asked): Promise<void> {
  const held: { permit?: CapacityPermit } = {};
  try {
    await askUntilBegun(parts, asked, held);
  } finally {
    held.permit?.leave();
  }
}

async function askUntilBegun(parts: CallParts, asked: Asked, held: { permit?: CapacityPermit }): Promise<void> {
  const { request, signal, onEvent, tries, maxTries } = asked;
  const { monotonicMs, retryPolicy, catalog, refusedFields } = parts;
  const { model } = request;
  const wishes: FormatRequirements = { fields: new Set(), wantsThought: false };
  const admission = new Admission(parts, { request, signal, hasFallback: asked.hasFallback });
  /** Extends the deadline by the time that the question waits for the service. */
  const extendingDeadline = async <Result>(wait: () => Promise<Result>): Promise<Result> => {
    const startedMs = monotonicMs();
    const result = await wait();
    tries.deadlineMs += monotonicMs() - startedMs;
    return result;
  };
  const enter = async (before?: ChatError): Promise<BreakerPass> => {
    for (let isFirst = true; ; isFirst = false) {
      held.permit?.leave();
      const { pass, permit } = await extendingDeadline(() => admission.enter(before));
      held.permit = permit;
      const readying = request.beforeCall?.();
      if (!readying) return pass;
      if (isFirst) {
        pass.failed(new ChatError('chat_cancelled', 'The chat call was not made'));
        permit.leave();
      }
      await extendingDeadline(() => readying);
      throwIfCancelled(signal);
      // If Redis is slow, the claim would be overdue again after the next wait for a place.
      if (!isFirst) return pass;
    }
  };
  /** @throws the error if the call is not repeated */
  const waitForRetry = async (error: ChatError): Promise<void> => {
    const waitMs = tries.made >= maxTries ? undefined : retryPolicy.pauseBeforeRetry(error, tries.made);
    const isLastTry = waitMs === undefined || monotonicMs() + waitMs >= tries.deadlineMs;
    if (await extendingDeadline(() => admission.mayRetry(error, { permit: held.permit, isLastTry }))) {
      if (waitMs !== undefined) retryPolicy.giveBack();
      tries.made -= 1;
      return;
    }
    if (isLastTry) throw error;
    parts.report.retried({ model, trace: request.trace, code: error.code, status: error.status, waitMs });
    await pauseUnlessCancelled(waitMs, signal);
  };
  let pass = await enter();
  if (tries.made === 0) retryPolicy.earn();
  for (;;) {
    tries.made += 1;
    const fields = requestFields(request, catalog.of(model), {
      left: new Set([...refusedFields.of(model), ...wishes.fields]),
      withThought: wishes.wantsThought || refusedFields.wantsThought(model),
    });
    const totalMs = tries.deadlineMs - monotonicMs();
    const call = new ChatCall(parts, { request, fields, signal, pass, permit: held.permit, totalMs, onEvent });
    try {
      await call.run();
      refusedFields.remember(model, wishes);
      return;
    } catch (error) {
      tries.hasSpoken = call.hasSpoken;
      if (!(error instanceof ChatError) || call.hasSpoken) throw error;
      if (isNewRequirement(error, fields, wishes) && monotonicMs() < tries.deadlineMs) {
        // Not an attempt: the service only stated the request format that it requires. Each requirement counts once, so this
        // terminates.
        for (const field of error.refusedFields) wishes.fields.add(field);
        wishes.wantsThought ||= error.wantsThought;
        tellRefusal(parts, request, error);
        tries.made -= 1;
      } else await waitForRetry(error);
      // If the question may not wait, the call's error is more useful than an open breaker.
      pass = await enter(error);
    }
  }
}

/** Request format required by the service, as learned within one question. */
interface FormatRequirements {
  fields: Set<OptionalField>;
  wantsThought: boolean;
}

/** Whether the refused request can be changed to meet a new requirement. */
function isNewRequirement(
  error: ChatError,
  sent: Readonly<Record<string, unknown>>,
  { fields, wantsThought }: FormatRequirements,
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
    'chat: the engine refused the request; the model is asked in another form',
  );
}
