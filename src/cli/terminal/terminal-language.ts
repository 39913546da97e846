import type { Language } from '../../shared/text/texts.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Language of the terminal by its locale, as gettext decides: LANGUAGE counts only with a locale other than `C`. */
export function terminalLanguage({ LANGUAGE, LC_ALL, LC_MESSAGES, LANG }: Environment): Language {
  const locale = [LC_ALL, LC_MESSAGES, LANG].find(isSet) ?? 'C';
  const first = LANGUAGE?.split(':').find(isSet);
  const isPlain = /^(?:C|POSIX)(?:[._@]|$)/.test(locale);
  return (isPlain ? locale : (first ?? locale)).startsWith('zh') ? 'zh' : 'en';
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
