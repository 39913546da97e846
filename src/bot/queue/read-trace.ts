import type { RedisClient } from '../../shared/redis/redis.ts';
import { scanKeys } from '../../shared/redis/scan-keys.ts';
import { ALL_PARTITIONS } from '../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../domain/ids.ts';
import { conversationKeys, messageKey } from '../domain/partition-keys.ts';
import { TRACE_STEPS, unescaped, type TraceStep } from '../domain/turn-trace.ts';

/** One step of a question, without text. */
export interface TracedStep {
  atMs: number;
  step: string;
  /** Values by name: numbers, models, codes. */
  values: Record<string, string | number>;
}

/** What happened to a question. */
export interface Trace {
  id: DeliveryId;
  conversation: string;
  /** Pseudonym of the person who asked. */
  person: string;
  /** State of its record: accepted, held, final, dead, limited or deleted. */
  state: string;
  /** The message that was answered instead, if this one was merged into its turn. */
  mergedInto?: DeliveryId;
  /** The model and the policy rule of the answer. */
  model?: string;
  rule?: string;
  /** How the answer was delivered (message-record.ts). */
  delivery?: string;
  steps: TracedStep[];
}

const WHOLE_ID_DIGITS = 40;

/**
 * The traces of all messages with this reference, usually one. A short reference is searched for among all keys, so that no
 * message pays for an index.
 */
export async function readTraces(redis: RedisClient, reference: string): Promise<Trace[]> {
  const wanted = reference.toLowerCase();
  const keys =
    wanted.length === WHOLE_ID_DIGITS
      ? ALL_PARTITIONS.map((partition) => messageKey(partition, asDeliveryId(wanted)))
      : await scanKeys(redis, `{p*}:message:${wanted}*`);
  const traces = await Promise.all(keys.map((key) => readTrace(redis, key)));
  return traces.flatMap((trace) => trace ?? []);
}

async function readTrace(redis: RedisClient, key: string): Promise<Trace | undefined> {
  const id = asDeliveryId(key.slice(key.lastIndexOf(':') + 1));
  const conversation = await redis.hget(key, 'conversation');
  const partition = Number(/^\{p(\d+)\}/.exec(key)?.[1]);
  // A turn that has not ended is traced in the state of its conversation. Read first: the commit moves the trace to the record.
  const [turn, running, doing] =
    conversation === null
      ? []
      : await redis.hmget(
          conversationKeys({ id: asConversationId(conversation), partition }).state,
          ...['turn', 'claims', 'did'],
        );
  const fields = await redis.hgetall(key);
  const { state, did = '', claims = '' } = fields;
  if (state === undefined) return undefined;
  const open = turn === id ? { claims: running ?? '', did: doing ?? '' } : undefined;
  return traceOf(id, { ...fields, claims: open?.claims ?? claims }, [did, open?.did ?? '']);
}

function traceOf(id: DeliveryId, fields: Readonly<Record<string, string>>, doing: readonly string[]): Trace {
  const { conversation = '', owner = '', state = '', turn, answeredBy, rule, delivery } = fields;
  const acceptedMs = Number(fields['atMs'] ?? 0);
  const limit = fields['full'] === '1' ? 'full inbox' : 'rate limit';
  const begin: TracedStep =
    state === 'limited'
      ? { atMs: acceptedMs, step: 'refused', values: { by: limit } }
      : { atMs: acceptedMs, step: 'accepted', values: {} };
  const marks = (['stopped', 'deleted', 'handedOver', 'heldIn'] as const).flatMap((mark): TracedStep[] => {
    const value = fields[mark];
    return value === undefined ? [] : [{ atMs: 0, step: MARKS[mark], values: {} }];
  });
  return {
    id,
    conversation,
    person: owner,
    state,
    mergedInto: turn === undefined || turn === id ? undefined : asDeliveryId(turn),
    model: answeredBy,
    rule,
    delivery,
    steps: [begin, ...withFailover(fields, claimsOf(fields['claims'] ?? '', doing)), ...marks],
  };
}

const MARKS = {
  stopped: 'stopped by its sender',
  deleted: 'deleted by its sender',
  handedOver: 'live reply ended before the answer',
  heldIn: 'held for a sign-in in a group',
} as const;

/** A failover after the end did nothing to the question, although its record is marked then too. */
function withFailover({ again, againMs }: Readonly<Record<string, string>>, steps: TracedStep[]): TracedStep[] {
  const atMs = Number(againMs ?? 0);
  const ended = steps.findLast(({ step }) => step === 'ended');
  if (again === undefined || (ended !== undefined && ended.atMs < atMs)) return steps;
  const before = steps.findLastIndex((step) => step.atMs <= atMs);
  return steps.toSpliced(before + 1, 0, { atMs, step: 'Redis failed over', values: {} });
}

/** @param doing steps that are stored apart, with the epoch of their claim */
function claimsOf(claims: string, doing: readonly string[]): TracedStep[] {
  const wakes = new Set<string>();
  return claims
    .split('|')
    .slice(1)
    .flatMap((text) => {
      const [claim = '', ...known] = text.split('~');
      const [epoch = '', at = '', crashes = '', worker = '', woken = ''] = claim.split(',');
      const atMs = Number(at);
      // The wake of a worker that died is handed to the next one, unchanged.
      const wake = woken === '' || wakes.has(woken) ? [] : [{ atMs: Number(woken), step: 'woken', values: {} }];
      wakes.add(woken);
      const claimed = { atMs, step: 'claimed', values: { epoch: Number(epoch), worker, crashes: Number(crashes) } };
      const own = [...known, ...doing].filter((did) => did.startsWith(`${epoch};`));
      const longest = own.reduce((one, other) => (other.length > one.length ? other : one), '');
      return [...wake, claimed, ...stepsOf(longest, atMs)];
    });
}

function stepsOf(did: string, claimedMs: number): TracedStep[] {
  const steps = did.split(';').flatMap((text): TracedStep[] => {
    const [afterMs = '', letter = '', ...given] = text.split(',');
    if (!(letter in TRACE_STEPS)) return [];
    const [step, ...names] = TRACE_STEPS[letter as TraceStep];
    const values = given.flatMap((value, index): [string, string | number][] => {
      const name = names[index];
      return name === undefined || value === '' ? [] : [[name, readValue(value)]];
    });
    return [{ atMs: claimedMs + Number(afterMs), step, values: Object.fromEntries(values) }];
  });
  return steps.sort((one, other) => one.atMs - other.atMs);
}

function readValue(value: string): string | number {
  return /^\d+$/.test(value) ? Number(value) : unescaped(value);
}
