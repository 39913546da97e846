import { YEAR_SEC } from '../../shared/clock.ts';
import { htmlDocument } from '../../shared/pages/html-document.ts';
import { inlineStyle } from '../../shared/pages/style-sheet.ts';
import { html } from '../../shared/text/html.ts';
import { localize, withoutSlashes, type Bilingual, type Language } from '../../shared/text/texts.ts';
import { SLASH_SPELLINGS, type SlashCommandName } from '../domain/slash-words.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { WEBHOOK_TEXTS } from '../i18n/webhook-texts.ts';
import { WORD_HELP } from '../i18n/word-texts.ts';
import { inSentence } from '../identity/pages/page-words.ts';
import { describePlatform } from '../platforms/registry.ts';

/** In the page itself, because the sign-in pages' style sheet is served only if there is a sign-in. */
const STYLE = inlineStyle(`:root{color-scheme:light dark}
body{max-width:34rem;margin:0 auto;padding:2rem 1.25rem;font:16px/1.6 system-ui,'PingFang SC','Microsoft YaHei',sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.3}h2{font-size:1.05rem}footer{margin-top:2rem;font-size:.875rem;opacity:.8}`);

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src ${STYLE.source}; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'strict-transport-security': `max-age=${YEAR_SEC}`,
  'x-content-type-options': 'nosniff',
  vary: 'Accept-Language',
};

/** The commands that work in every deployment. */
const WORDS: readonly [SlashCommandName, Bilingual][] = [
  ['help', WEBHOOK_TEXTS.helpWord],
  ['new', WORD_HELP.new],
  ['stop', WORD_HELP.stop],
  ['retry', WORD_HELP.retry],
];

export interface OpenedPage {
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * The page for a person who opens a webhook address: from a card in the chat, whose title must link somewhere, or to check
 * the deployment.
 */
export function openedPage(name: PlatformName, language: Language, helpUrl: string | undefined): OpenedPage {
  const { label, bareWords } = describePlatform(name);
  const say = (text: Bilingual) =>
    localize(text, language, { platform: inSentence(localize(label, language), language) }).trim();
  const words = WORDS.map(([word, meaning]) => {
    const [english = '', chinese = ''] = SLASH_SPELLINGS[word];
    const spelling = { en: bareWords ? withoutSlashes(english) : english, zh: chinese }[language];
    return html`<li><code>${spelling}</code> ${localize(meaning, language)}</li>`;
  });
  const { text } = htmlDocument({
    language,
    title: say(WEBHOOK_TEXTS.title),
    head: STYLE.element,
    isCard: false,
    body: html`<main>
        <h1>${say(WEBHOOK_TEXTS.title)}</h1>
        <p>${say(WEBHOOK_TEXTS.how)}</p>
        <h2>${say(WEBHOOK_TEXTS.words)}</h2>
        <ul>
          ${words}
        </ul>
        ${helpUrl !== undefined && html`<p><a href="${helpUrl}">${say(WEBHOOK_TEXTS.help)}</a></p>`}
      </main>
      <footer>${say(WEBHOOK_TEXTS.administrators)}</footer>`,
  });
  return { headers: HEADERS, body: text };
}
