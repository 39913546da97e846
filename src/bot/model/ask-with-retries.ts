import { Admission, pauseUnlessCancelled } from './admission.ts';
import type { CallParts } from './call-parts.ts';
import type { ChatRequest, OnChatEvent } from './chat-types.ts';
import { ChatCall } from './chat-call.ts';
import type { BreakerPass } from './circuit-breaker.ts';
import type { CapacityPermit } from './engine-capacity.ts';
import { ChatError } from './chat-error.ts';
import { isModelFault } from './is-model-fault.ts';
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
  // A model that may load for long, or be silent while it runs tools, has this time beside the time for its answer.
  const { firstByteMs = 0, idleMs = 0 } = parts.catalog.of(own.model);
  const tries: Tries = { made: 0, deadlineMs: parts.monotonicMs() + totalMs + firstByteMs + idleMs, hasSpoken: false };
  if (fallbackModel === undefined || fallbackModel === own.model)
    return askModel(parts, { request: own, signal, onEvent, tries, mostTries: maxTries, hasFallback: false });
  try {
    const mostTries = Math.max(1, maxTries - 1);
    return await askModel(parts, { request: own, signal, onEvent, tries, mostTries, hasFallback: true });
  } catch (error) {
    const isOver = tries.hasSpoken || tries.made >= maxTries || parts.monotonicMs() >= tries.deadlineMs;
    if (isOver || !(error instanceof ChatError) || !isModelFault(error)) throw error;
    onEvent({ type: 'fallback', model: fallbackModel });
    const asked = {
      request: { ...own, model: fallbackModel },
      signal,
      onEvent,
      tries,
      mostTries: maxTries,
      hasFallback: false,
    };
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
  /** Another model is asked when this one is away. */
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
  const { request, signal, onEvent, tries, mostTries } = asked;
  const { monotonicMs, retryPolicy, catalog, refusedFields } = parts;
  const { model } = request;
  const wishes: Wishes = { fields: new Set(), wantsThought: false };
  const admission = new Admission(parts, { request, signal, hasFallback: asked.hasFallback });
  /** The time for all tries does not run while the question waits for the service. */
  const unhurried = async <Result>(wait: () => Promise<Result>): Promise<Result> => {
    const startedMs = monotonicMs();
    const result = await wait();
    tries.deadlineMs += monotonicMs() - startedMs;
    return result;
  };
  const enter = async (before?: ChatError): Promise<BreakerPass> => {
    held.permit?.leave();
    const { pass, permit } = await unhurried(() => admission.enter(before));
    held.permit = permit;
    return pass;
  };
  let pass = await enter();
  if (tries.made === 0) retryPolicy.earn();
  for (;;) {
    tries.made += 1;
    const fields = requestFields(request, catalog.of(request.model), {
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
      if (isNewWish(error, fields, wishes) && monotonicMs() < tries.deadlineMs) {
        // No try: the service only said how it wants to be asked. It comes to an end, since each time a wish is new.
        for (const field of error.refusedFields) wishes.fields.add(field);
        wishes.wantsThought ||= error.wantsThought;
        tellRefusal(parts, request, error);
        tries.made -= 1;
      } else {
        const waitMs = tries.made >= mostTries ? undefined : retryPolicy.pauseBeforeRetry(error, tries.made);
        const isLastTry = waitMs === undefined || monotonicMs() + waitMs >= tries.deadlineMs;
        if (await unhurried(() => admission.mayAskAgain(error, { permit: held.permit, isLastTry }))) tries.made -= 1;
        else if (isLastTry) throw error;
        else {
          tellRetry(parts, request, { error, waitMs });
          await pauseUnlessCancelled(waitMs, signal);
        }
      }
      // Where the question may not wait, what went wrong is the better answer than that the breaker is open.
      pass = await enter(error);
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
