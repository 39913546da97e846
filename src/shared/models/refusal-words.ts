/** Request fields that control thinking, in all dialects. */
const THINKING_FIELDS = ['thinking', 'reasoning_effort', 'enable_thinking', 'chat_template_kwargs'];

/** Phrases by which engines report an unsupported feature. */
const CANNOT =
  /not (?:\w+ )?(?:support|permit|allow|accept|expect|multimodal|enabled|a multimodal)|unsupported|requires|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|extra_forbidden|no .{0,20}(?:parser|template)|不支持/i;

/** Topics of refusals that do not name a field, most specific first. */
const MEANINGS: readonly (readonly [words: RegExp, fields: readonly string[]])[] = [
  [/reasoning[_ ]effort/i, ['reasoning_effort']],
  [/think|reasoning|思考/i, THINKING_FIELDS],
  [/\btools?\b|\btool[_ ]|function[_ ]call|工具/i, ['tools']],
];

/** Whether a refusal reports an unsupported feature, as opposed to a failure. */
export function statesUnsupported(words: string): boolean {
  return CANNOT.test(words);
}

/**
 * The sent fields that a refusal is about: those that it names, otherwise those that it implies. Empty if it is about
 * something else.
 * @param words the refusal's body, untrusted; it is read and not kept
 */
export function findRefusedFields(words: string, sent: readonly string[]): string[] {
  const named = sent.filter((field) => namesField(words, field));
  if (named.length > 0 || !statesUnsupported(words)) return named;
  for (const [meaning, fields] of MEANINGS) {
    const meant = sent.filter((field) => fields.includes(field));
    if (meant.length > 0 && meaning.test(words)) return meant;
  }
  return [];
}

/** Whether the text names this field as a separate word, quoted or not: `enable_thinking` does not name `thinking`. */
function namesField(text: string, field: string): boolean {
  // `user` is also a role, and `tools` and `thinking` are ordinary words, so these only count where they are used as field
  // names.
  const isWord = !field.includes('_');
  const pattern = isWord
    ? `(?:["'\`]|body\\.)${field}["'\`]|\\b${field}\\b[^.]{0,24}\\bnot support|not support[^.]{0,24}\\b${field}\\b|\\bparameters?(?:\\(s\\))?: ?${field}\\b|\\bsupplied: ${field}\\b|\\b${field} param`
    : `\\b${field}\\b`;
  return new RegExp(pattern, 'i').test(text);
}
