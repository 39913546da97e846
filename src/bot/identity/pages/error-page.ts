import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { ERROR_TEXTS, type ErrorPage } from './error-texts.ts';
import { page } from './layout.ts';
import { localizeForPlatform } from './page-words.ts';
import type { BackToChat } from '../../platforms/platform.ts';
import { backToChat } from './back-to-chat.ts';
import type { TryAgain } from './page-error.ts';
import { AGAIN, tryAgainForm } from './try-again.ts';

const TEXTS = {
  help: { en: 'Contact the help desk', zh: '联系服务台' },
  reference: { en: 'Reference {reference}', zh: '参考编号 {reference}' },
} as const satisfies Catalogue<string>;

interface ErrorView {
  language: Language;
  error: ErrorPage;
  /** A random word that is also in the log. */
  reference: string;
  again?: TryAgain;
  helpUrl?: string;
  back?: BackToChat;
}

/** An error page: what happened, what to do, a button for it if possible, and a reference. */
export function errorPage(view: ErrorView): SafeHtml {
  const { language, error, reference, back } = view;
  const text = ERROR_TEXTS[error];
  const body = html`<div class="closing bad">
      ${mark}
      <p class="lead">${localizeForPlatform(text.next, language, back?.platform)}</p>
      ${nextStep(view)}
    </div>
    <p class="quiet">${localize(TEXTS.reference, language, { reference })}</p>`;
  return page({ language, title: localize(text.title, language), outcome: 'error', back, body });
}

function nextStep({ language, error, again, helpUrl, back }: ErrorView): SafeHtml | string {
  const link = (href: string, label: string) => html`<a class="primary" href="${href}">${label}</a>`;
  const aside = backToChat(back, { language, isPrimary: false });
  if (again) return html`${tryAgainForm(again, language)} ${aside}`;
  const { way } = ERROR_TEXTS[error];
  if (way === 'again') return html`${link('', localize(AGAIN, language))} ${aside}`;
  if (way === 'help' && helpUrl) return html`${link(helpUrl, localize(TEXTS.help, language))} ${aside}`;
  return backToChat(back, { language, isPrimary: true });
}

const mark = html`<svg class="mark" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true" focusable="false">
  <circle cx="24" cy="24" r="23" fill="currentColor" opacity="0.14" />
  <path d="M24 13v14" fill="none" stroke="currentColor" stroke-width="4" stroke-linecap="round" />
  <circle cx="24" cy="34.5" r="2.5" fill="currentColor" />
</svg>`;
