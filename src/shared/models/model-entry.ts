/**
 * How a model is asked to think: `thinking` by an object `{type}` (and a level as `reasoning_effort` where it has levels),
 * `reasoning_effort` by the level alone, the other two by a switch under that name; `none` cannot be asked.
 */
export type ThinkingDialect = 'none' | 'thinking' | 'reasoning_effort' | 'enable_thinking' | 'chat_template_kwargs';

/** What is known of one model, every default filled in. */
export interface ModelEntry {
  /** What people choose, and CHAT_MODELS lists. */
  name: string;
  /** What people read beside the name; the name itself where the file says nothing. */
  label: string;
  /** The name that the engine is asked for. */
  upstream: string;
  seesImages: boolean;
  callsTools: boolean;
  thinking: ThinkingDialect;
  /** The words that the engine takes for `reasoning_effort`, weakest first; without `none`, which is no level. */
  levels: readonly string[];
  /** Whether the engine knows `none` as a word for "do not think". */
  hasNoneLevel: boolean;
  /** Its answers may begin with the thought, without an opening mark. */
  thoughtFirst: boolean;
  /** The roles that the engine takes beside user and assistant. */
  roles: ReadonlySet<ExtraRole>;
  /** Tokens that prompt and answer may take together; undefined where nobody said. */
  contextTokens?: number;
  /** Tokens that an answer may take, sent as `max_tokens`; nothing is sent where nobody said. */
  answerTokens?: number;
  /** The temperatures that the model takes. */
  temperature: { min: number; max: number };
  /** What the service samples with where its caller names nothing; nothing is added where nobody said. */
  defaults: { temperature?: number; topP?: number };
  /** The longest wait for the headers of an answer, for an engine that loads the model first. Defaults to the caller's limit. */
  firstByteMs?: number;
  /** The longest silence within an answer. Defaults to the caller's limit. */
  idleMs?: number;
  /** Fields that the engine refuses. */
  omit: ReadonlySet<string>;
}

export type ExtraRole = 'system' | 'tool';

/** Models whose chat template begins the thought for them, so that engines without a parser for it show no opening mark. */
const THINKS_FIRST = /(?:^|[-_/.:])(?:r1|qwq|thinking|reasoner|z1)(?:$|[-_/.:@])/i;
const ALL_ROLES: ReadonlySet<ExtraRole> = new Set(['system', 'tool']);
const WIDEST_TEMPERATURE = { min: 0, max: 2 };

/** A model that nothing is known of: it takes text and calls tools. */
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
  };
}
