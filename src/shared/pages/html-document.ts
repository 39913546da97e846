import { html, type SafeHtml } from '../text/html.ts';
import type { Language } from '../text/texts.ts';

/** The tag of a language in HTML and in headers. */
export const LANGUAGE_TAG: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' };

interface DocumentOptions {
  language: Language;
  title: string;
  /** Unset if the style is part of `head`. */
  stylePath?: string;
  /** Further elements of the head. */
  head?: SafeHtml;
  /** The attribute `data-outcome`. */
  outcome?: string;
  /** One card in the middle of the window. */
  isCard: boolean;
  body: SafeHtml;
}

/** A whole document. Loads nothing but its style sheet and what `head` names. */
export function htmlDocument({ language, title, stylePath, head, outcome, isCard, body }: DocumentOptions): SafeHtml {
  const attributes = html`lang="${LANGUAGE_TAG[language]}"${outcome && html` data-outcome="${outcome}"`}`;
  return html`<!doctype html>
    <html ${attributes}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${stylePath !== undefined && html`<link rel="stylesheet" href="${stylePath}" />`} ${head}
      </head>
      <body ${isCard && html` class="alone"`}>
        ${body}
      </body>
    </html>`;
}

/** A form that does something: a POST with the token of the session. */
export function postForm(action: string, csrf: string, fields: SafeHtml): SafeHtml {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="csrf" value="${csrf}" />${fields}
  </form>`;
}
