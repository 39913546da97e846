import type { Context } from 'koa';
import { html } from '../../shared/text/html.ts';
import { localize } from '../../shared/text/texts.ts';
import { languageOf, showPage } from './layout.ts';
import { PAGE_TEXTS as T } from './service-page-texts.ts';

/** Home page of the service, which explains its purpose. */
export function showHomePage(
  ctx: Context,
  { models, hasEngine }: { models: readonly string[]; hasEngine: boolean },
): void {
  const language = languageOf(ctx);
  const rows: [label: string, addresses: string[]][] = [
    [localize(T.homeChat, language), ['POST /v1/chat/completions']],
    [localize(T.homeModels, language), [...models]],
    [localize(T.homeSignIn, language), ['GET /oauth2.0/authorize']],
  ];
  const content = html`<h1>${localize(T.homeTitle, language)}</h1>
    <p class="lead">${localize(T.homeLead, language)}</p>
    <dl class="facts">
      ${rows.map(
        ([label, names]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${names.map((name, index) => html`${index > 0 && ' '}<code>${name}</code>`)}</dd>
          </div>`,
      )}
    </dl>
    <p class="lead">${localize(hasEngine ? T.homeEngineUpstream : T.homeEngineBuiltIn, language)}</p>
    <div class="buttons"><a class="button" href="/account">${localize(T.homeAccount, language)}</a></div>`;
  showPage(ctx, { title: localize(T.homeTitle, language), content });
}

/** @param againPath for signing in again to the application that requested the sign-out; undefined if it named none */
export function showSignedOutPage(ctx: Context, againPath: string | undefined): void {
  const language = languageOf(ctx);
  const way = againPath === undefined ? { path: '/', label: T.home } : { path: againPath, label: T.signInAgain };
  const content = html`<h1>${localize(T.signedOut, language)}</h1>
    <p class="lead">${localize(T.signedOutLead, language)}</p>
    <div class="buttons"><a class="button" href="${way.path}">${localize(way.label, language)}</a></div>`;
  showPage(ctx, { title: localize(T.signedOut, language), content, outcome: 'signed-out' });
}
