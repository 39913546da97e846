import type { ModelEntry } from './model-entry.ts';

/** Reasoning effort that a person chose; `off` disables thinking. */
export type Thinking = 'off' | 'low' | 'high' | 'max';

/**
 * Request fields that set the reasoning effort in the model's dialect; none if no effort was chosen, or the model does not
 * support it.
 */
export function thinkingFields(model: ModelEntry, thinking: Thinking | undefined): Record<string, unknown> {
  if (thinking === undefined) return {};
  const isOn = thinking !== 'off';
  const level = levelFor(model.levels, thinking);
  switch (model.thinking) {
    case 'none':
      return {};
    case 'thinking':
      return { thinking: { type: isOn ? 'enabled' : 'disabled' }, ...effort(level) };
    case 'reasoning_effort':
      return effort(isOn ? level : model.hasNoneLevel ? 'none' : undefined);
    case 'enable_thinking':
      return { enable_thinking: isOn };
    case 'chat_template_kwargs':
      return { chat_template_kwargs: { enable_thinking: isOn } };
  }
}

/**
 * The engine's closest level: `low` is its first, `max` its last, `high` the one of that name, otherwise the second to last
 * (of two, the last). Undefined for `off`, and if the engine has no levels.
 */
export function levelFor(levels: readonly string[], thinking: Thinking): string | undefined {
  switch (thinking) {
    case 'off':
      return undefined;
    case 'low':
      return levels[0];
    case 'max':
      return levels.at(-1);
    case 'high':
      return levels.find((level) => level === 'high') ?? (levels.length > 2 ? levels.at(-2) : levels.at(-1));
  }
}

function effort(level: string | undefined): Record<string, unknown> {
  return { reasoning_effort: level };
}
