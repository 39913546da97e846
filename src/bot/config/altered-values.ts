import { SETTING_NAMES, type SettingName } from './schema.ts';
import type { Environment } from './read-values.ts';

const QUOTED = /^(["'`]).*\1$/s;
const SMART_QUOTES = /^[“”„‟‘’‚‛«»「」]|[“”„‟‘’‚‛«»「」]$/;
const REFERENCE = /\$\{[A-Za-z_]\w*\}|^\$[A-Za-z_]\w*$/;
/** A line with an unquoted value that contains a `#`, probably not meant as a comment. */
const CUT_LINE = /^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=(?![ \t]*["'`#])[^#\r\n]*(?<=[^#\s])#/;

/**
 * Warns of values that a parser of settings files has probably altered: cut at a `#`, or with unintended quotes, blanks or a
 * prefix. Names the setting, never its value.
 */
export function warnOfAlteredValues(
  texts: Partial<Record<SettingName, string>>,
  env: Environment,
  fileText: string,
): string[] {
  const cut = new Set(fileText.split(/\r?\n|\r/).flatMap((line) => CUT_LINE.exec(line)?.[1] ?? []));
  return SETTING_NAMES.flatMap((name) => {
    const own = texts[name];
    const found = own === undefined ? [] : remarksOn(own).map((remark) => `${name} ${remark}`);
    const isCut = cut.has(name) && env[name] === undefined;
    return [
      ...(isCut
        ? [`${name} is cut off at "#" in the settings file: put the value in single quotes if the # is part of it`]
        : []),
      ...found,
      ...(own === undefined ? misnamed(name, env) : []),
    ];
  });
}

function remarksOn(value: string): string[] {
  const trimmed = value.trim();
  return [
    ...(QUOTED.test(trimmed) && trimmed.length > 1
      ? ['contains the quotes around its value: docker --env-file and NAME_FILE keep quotes, so remove them']
      : []),
    ...(SMART_QUOTES.test(trimmed) ? ['begins or ends with a typographic quote: use straight quotes, or none'] : []),
    ...(value !== trimmed ? ['begins or ends with a space or line break: remove it'] : []),
    ...(REFERENCE.test(trimmed)
      ? ['contains a reference such as ${NAME}, which is not replaced: write the value itself']
      : []),
  ];
}

/** `docker --env-file` treats text before a name as part of the name. */
function misnamed(name: SettingName, env: Environment): string[] {
  const prefix = ['export ', '\uFEFF'].find((each) => env[each + name] !== undefined);
  if (prefix === undefined) return [];
  const words = prefix === '\uFEFF' ? 'a byte order mark' : '"export"';
  return [`${name} has ${words} before its name in the process environment and is ignored: remove it from the file`];
}
