import type { ModelEntry } from '../../shared/models/model-entry.ts';
import { isDeeperThan, MAX_LEVELS } from './json-depth.ts';

/**
 * Request fields that are relayed to an engine in addition to the validated ones (SECURITY.md relayed-fields): those of the
 * standard interface, and three sampling parameters that most engines support. Any other field may be an engine-specific
 * switch: `best_of` multiplies the cost of an answer, `chat_template` and `logits_processors` run as code, `guided_regex`
 * compiles the caller's pattern.
 */
const RELAYED: ReadonlySet<string> = new Set([
  ...['audio', 'frequency_penalty', 'function_call', 'functions', 'logit_bias', 'logprobs', 'max_completion_tokens'],
  ...['max_tokens', 'metadata', 'min_p', 'modalities', 'model', 'n', 'parallel_tool_calls', 'prediction'],
  ...['presence_penalty', 'prompt_cache_key', 'prompt_cache_retention', 'reasoning_effort', 'repetition_penalty'],
  ...['response_format', 'safety_identifier', 'seed', 'service_tier', 'stop', 'store', 'stream', 'stream_options'],
  ...['temperature', 'thinking', 'tool_choice', 'top_k', 'top_logprobs', 'top_p', 'user', 'verbosity'],
]);

/** Rebuilt for the engine from the validated request. */
const JUDGED: ReadonlySet<string> = new Set(['messages', 'tools']);

/**
 * @param body a request that is known to be an object @param relayedFields allowed by the operator in addition to the
 * standard fields
 */
export function pickRelayed(
  body: Readonly<Record<string, unknown>>,
  { thinking }: ModelEntry,
  relayedFields: readonly string[],
): { written: Record<string, unknown>; droppedFields: number } {
  const isRelayed = (name: string) => RELAYED.has(name) || relayedFields.includes(name);
  const written: [string, unknown][] = [];
  let droppedFields = 0;
  for (const [name, value] of Object.entries(body)) {
    if (JUDGED.has(name)) continue;
    if (isRelayed(name) && !isDeeperThan(MAX_LEVELS, value)) written.push([name, value]);
    else if (name === thinking && isThinkingSwitch(name, value)) written.push([name, value]);
    else droppedFields += 1;
  }
  return { written: Object.fromEntries(written), droppedFields };
}

/**
 * Whether it only requests thinking in the model's dialect (`thinking-fields.ts`). Chat templates have other variables too.
 */
function isThinkingSwitch(name: string, value: unknown): boolean {
  if (name === 'enable_thinking') return typeof value === 'boolean';
  if (typeof value !== 'object' || value === null) return false;
  const entries = Object.entries(value);
  return entries.length === 1 && entries[0]?.[0] === 'enable_thinking' && typeof entries[0][1] === 'boolean';
}
