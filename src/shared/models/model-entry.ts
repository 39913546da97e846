import type { EngineHeaders } from './engine-headers.ts';

/**
 * How to set a model's reasoning effort: `thinking` with an object `{type}` (plus a level as `reasoning_effort` if the model
 * has levels), `reasoning_effort` with the level alone, the other two with a switch of that name. `none` means that it
 * cannot be set.
 */
export type ThinkingDialect = 'none' | 'thinking' | 'reasoning_effort' | 'enable_thinking' | 'chat_template_kwargs';

/** One model's properties, with every default filled in. */
export interface ModelEntry {
  /** The name that people choose and that CHAT_MODELS lists. */
  name: string;
  /** Description shown beside the name. Defaults to the name. */
  label: string;
  /** Model name in requests to the engine. */
  upstream: string;
  seesImages: boolean;
  callsTools: boolean;
  thinking: ThinkingDialect;
  /** Values that the engine accepts for `reasoning_effort`, weakest first; without `none`, which is not a level. */
  levels: readonly string[];
  /** Whether the engine accepts `none` to disable thinking. */
  hasNoneLevel: boolean;
  /** Answers may begin with reasoning without an opening tag. */
  thoughtFirst: boolean;
  /** Roles that the engine accepts in addition to user and assistant. */
  roles: ReadonlySet<ExtraRole>;
  /** Maximum tokens of prompt and answer together; undefined if not configured. */
  contextTokens?: number;
  /** Maximum tokens of an answer, sent as `max_tokens`; not sent if undefined. */
  answerTokens?: number;
  /** Range of temperatures that the model accepts. */
  temperature: { min: number; max: number };
  /** Sampling parameters that the service uses if its caller sets none; nothing is added if undefined. */
  defaults: { temperature?: number; topP?: number };
  /**
   * Maximum wait for the first byte of the answer, for an engine that loads the model first or reads long prompts. Defaults
   * to the caller's limit.
   */
  firstByteMs?: number;
  /** Maximum silence within an answer. Defaults to the caller's limit. */
  idleMs?: number;
  /** Request fields that the engine rejects. */
  omit: ReadonlySet<string>;
  /** What tokens cost; undefined if not configured. */
  price?: ModelPrice;
  /** Additional request headers, sent only to the engine of this model. */
  headers: EngineHeaders;
}

/** Prices per million tokens. */
export interface ModelPrice {
  prompt: number;
  completion: number;
  /** ISO 4217 code. */
  currency: string;
}

export type ExtraRole = 'system' | 'tool';

/**
 * Models whose chat template opens the reasoning for them, so that engines without a reasoning parser show no opening tag.
 */
const THINKS_FIRST = /(?:^|[-_/.:])(?:r1|qwq|thinking|reasoner|z1)(?:$|[-_/.:@])/i;
const ALL_ROLES: ReadonlySet<ExtraRole> = new Set(['system', 'tool']);
const WIDEST_TEMPERATURE = { min: 0, max: 2 };

/** Entry for an unlisted model: it accepts text and calls tools. */
export function plainModel(name: string): ModelEntry {
  return {
    name,
    label: name,
    upstream: name,
    seesImages: false,
    callsTools: true,
    thinking: 'none',
    levels: [],
    hasNoneLevel: false,
    thoughtFirst: THINKS_FIRST.test(name),
    roles: ALL_ROLES,
    temperature: WIDEST_TEMPERATURE,
    defaults: {},
    omit: new Set(),
    headers: {},
  };
}
