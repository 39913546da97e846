import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Language } from '../../../shared/text/texts.ts';
import type { TryAgain } from './page-error.ts';

export const AGAIN: Bilingual = { en: 'Try again', zh: '重试' };

/** A form that restarts the sign-in in this browser with the same link. */
export function tryAgainForm({ csrf, ticketHash }: TryAgain, language: Language): SafeHtml {
  const fields = html`<input type="hidden" name="ticket" value="${ticketHash}" />
    <button class="primary" type="submit">${localize(AGAIN, language)}</button>`;
  return postForm('/sign-in/again', csrf, fields);
}
