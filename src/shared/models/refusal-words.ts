/** Fields by which thinking is asked for, in whichever dialect. */
const THINKING_FIELDS = ['thinking', 'reasoning_effort', 'enable_thinking', 'chat_template_kwargs'];

/** Words by which engines say that they cannot do what was asked. */
const CANNOT =
  /not (?:\w+ )?(?:support|permit|allow|accept|expect|multimodal|enabled|a multimodal)|unsupported|requires|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|extra_forbidden|no .{0,20}(?:parser|template)|不支持/i;

/** What engines speak of where they name no field, the most particular first. */
const MEANINGS: readonly (readonly [words: RegExp, fields: readonly string[]])[] = [
  [/reasoning[_ ]effort/i, ['reasoning_effort']],
  [/think|reasoning|思考/i, THINKING_FIELDS],
  [/\btools?\b|\btool[_ ]|function[_ ]call|工具/i, ['tools']],
];

/** Whether a refusal says that something cannot be done, as against that something went wrong. */
export function saysCannot(words: string): boolean {
  return CANNOT.test(words);
}

/**
 * Which of the fields that were sent a refusal is about: those that it names, else those that it must mean. Empty where it is
 * about something else.
 * @param words the refusal's body, untrusted; it is looked at and not kept
 */
export function fieldsMeant(words: string, sent: readonly string[]): string[] {
  const named = sent.filter((field) => namesField(words, field));
  if (named.length > 0 || !saysCannot(words)) return named;
  for (const [meaning, fields] of MEANINGS) {
    const meant = sent.filter((field) => fields.includes(field));
    if (meant.length > 0 && meaning.test(words)) return meant;
  }
  return [];
}

/** A name that is a word of its own, in quotation marks or not: `thinking` is not meant by `enable_thinking`. */
function namesField(text: string, field: string): boolean {
  // `user` is also the name of a role, and `tools` or `thinking` are words: these count only as names.
  const isWord = !field.includes('_');
  const pattern = isWord
    ? `(?:["'\`]|body\\.)${field}["'\`]|\\b${field}\\b[^.]{0,24}\\bnot support|not support[^.]{0,24}\\b${field}\\b|\\bparameters?(?:\\(s\\))?: ?${field}\\b|\\bsupplied: ${field}\\b|\\b${field} param`
    : `\\b${field}\\b`;
  return new RegExp(pattern, 'i').test(text);
}
