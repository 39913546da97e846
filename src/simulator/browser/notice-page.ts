import type { Context } from 'koa';
import { htmlDocument } from '../../shared/pages/html-document.ts';
import { inlineStyle, styleSheet } from '../../shared/pages/style-sheet.ts';
import { html } from '../../shared/text/html.ts';
import { languageOfHeader, localize, type Bilingual, type Language } from '../../shared/text/texts.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';

export interface Notice {
  language: Language;
  title: Bilingual;
  text: Bilingual;
  values?: Readonly<Record<string, string>>;
  /** An address to copy. */
  link?: string;
  /** Target of "Try again". */
  retry?: string;
  /** A question with several buttons as answers; the first is the default. */
  choices?: { action: string; name: string; values: Readonly<Record<string, Bilingual>> };
}

/** These pages load nothing. */
const STYLE = inlineStyle(styleSheet(new URL('./notice-page.css', import.meta.url)));

/**
 * Content security policy of these pages: only their own style. @param formAction allowed targets of their forms; defaults
 * to none
 */
export function noticePolicy(formAction = "'none'"): string {
  return `default-src 'none'; style-src ${STYLE.source}; base-uri 'none'; form-action ${formAction}`;
}

/** Answers a request with such a page, which cannot be framed and is not kept. @param formAction see `noticePolicy` */
export function showNotice(
  context: Context,
  status: number,
  { formAction, ...page }: Omit<Notice, 'language'> & { formAction?: string },
): void {
  context.status = status;
  context.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `${noticePolicy(formAction)}; frame-ancestors 'none'`,
  });
  context.type = 'text/html; charset=utf-8';
  context.body = noticePage({ language: languageOfHeader(context.get('accept-language')), ...page });
}

/** A simple card that tells what happened and what to do. */
export function noticePage({ language, title, text, values = {}, link, retry, choices }: Notice): string {
  const shown = localize(title, language, values);
  return htmlDocument({
    language,
    title: shown,
    head: STYLE.element,
    isCard: true,
    body: html`<main class="card">
      <h1>${shown}</h1>
      <p class="lead">${localize(text, language, values)}</p>
      ${
        link !== undefined &&
        html`<label for="link">${localize(MESSENGER_TEXTS.linkLabel, language)}</label
          ><textarea id="link" rows="3" readonly>${link}</textarea>`
      }
      ${
        choices &&
        html`<form class="buttons" method="post" action="${choices.action}">
          ${Object.entries(choices.values).map(
            ([value, label], index) =>
              html`<button class="${index === 0 ? 'primary' : 'button'}" name="${choices.name}" value="${value}">
                ${localize(label, language)}
              </button>`,
          )}
        </form>`
      }
      ${retry !== undefined && html`<a class="primary" href="${retry}">${localize(MESSENGER_TEXTS.tryAgain, language)}</a>`}
    </main>`,
  }).text;
}
