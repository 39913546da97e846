import type { Context } from 'koa';
import { html } from '../../shared/text/html.ts';
import { localize } from '../../shared/text/texts.ts';
import type { PageError } from '../oauth/sign-in-errors.ts';
import { languageOf, showPage } from './layout.ts';
import { ERROR_TEXTS, PAGE_TEXTS as T } from './service-page-texts.ts';

/** Explains what happened and what to do, with a button to continue. @param reference is also in the log */
export function showErrorPage(ctx: Context, error: PageError, reference: string): void {
  const language = languageOf(ctx);
  const { title, advice } = ERROR_TEXTS[error.code];
  if (error.retryAfterSec !== undefined) ctx.set('Retry-After', String(error.retryAfterSec));
  const isHome = error.tryAgainPath === undefined;
  const content = html`<h1>${localize(title, language)}</h1>
    <p class="lead">${localize(advice, language)}</p>
    <div class="buttons">
      <a class="${isHome ? 'button' : 'primary'}" href="${error.tryAgainPath ?? '/'}"
        >${localize(isHome ? T.home : T.tryAgain, language)}</a
      >
    </div>`;
  showPage(ctx, {
    title: localize(title, language),
    content,
    status: error.status,
    footer: html`${localize(T.reference, language, { reference })}`,
  });
}
