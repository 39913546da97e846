/** Why an answer ended, according to its engine; undefined for an unknown reason. */
export type KnownEnd = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'truncated';

/** Finish reasons of engines, in lower case. The first matching row decides. */
const REASONS: readonly (readonly [words: RegExp, end: KnownEnd])[] = [
  [/^(?:stop|end_turn|stop_sequence|stop_str|complete|completed|finish|finished|normal|end)$/, 'stop'],
  [/length|max_?(?:\w{1,12}_?)?tokens|token_?limit|context_?window/, 'length'],
  // Gemini: a call that cannot be executed.
  [/malformed|unexpected_tool|repetition/, 'truncated'],
  [/tool|function/, 'tool_calls'],
  [/filter|sensitive|safety|recitation|prohibited|blocklist|spii|refusal|moderation/, 'content_filter'],
  // Finish reasons of engines that aborted an answer.
  [
    /error|fail|abort|cancel|time_?out|interrupt|overload|insufficient|exception|unavailable|incomplete|disconnect|preempt|killed|evicted|exceeded|expired/,
    'truncated',
  ],
];

export function readFinishReason(reason: string): KnownEnd | undefined {
  const words = reason.toLowerCase();
  return REASONS.find(([pattern]) => pattern.test(words))?.[1];
}
