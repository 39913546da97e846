import type { Context } from 'koa';
import { LANGUAGE_TAG, postForm } from '../../shared/pages/html-document.ts';
import { html, plainName } from '../../shared/text/html.ts';
import { localize } from '../../shared/text/texts.ts';
import { languageOf, showPage } from './layout.ts';
import { PAGE_TEXTS as T } from './service-page-texts.ts';

export interface AccountEntry {
  clientName: string;
  givenAtMs: number;
  isRemembered: boolean;
  /** The sealed hidden field for this entry's button. */
  csrf: string;
}

/** Lists the applications with access to the profile, each with a button to revoke it. */
export function showAccountPage(ctx: Context, entries: readonly AccountEntry[]): void {
  const language = languageOf(ctx);
  const dates = new Intl.DateTimeFormat(LANGUAGE_TAG[language], { dateStyle: 'medium' });
  const rows = entries.map(({ clientName, givenAtMs, isRemembered, csrf }) => {
    const client = plainName(clientName);
    const given = localize(T.accountGiven, language, { date: dates.format(givenAtMs) });
    const label = localize(T.withdrawFrom, language, { client });
    const button = html`<button class="small" type="submit" aria-label="${label}">
      ${localize(T.withdraw, language)}
    </button>`;
    return html`<li>
      <div>
        <strong class="name">${client}</strong>
        <span class="detail">${given}${isRemembered && ` · ${localize(T.accountRemembered, language)}`}</span>
      </div>
      ${postForm('/account/withdraw', csrf, button)}
    </li>`;
  });
  const content = html`<h1>${localize(T.accountTitle, language)}</h1>
    <p class="lead">${localize(rows.length > 0 ? T.accountLead : T.accountNone, language)}</p>
    ${
      rows.length > 0 &&
      html`<ul class="list">
        ${rows}
      </ul>`
    }
    <p class="quiet"><a href="/logout">${localize(T.signOut, language)}</a></p>`;
  showPage(ctx, { title: localize(T.accountTitle, language), content });
}
