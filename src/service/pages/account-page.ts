import type { Context } from 'koa';
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
  const dates = new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en', { dateStyle: 'medium' });
  const rows = entries.map(({ clientName, givenAtMs, isRemembered, csrf }) => {
    const client = plainName(clientName);
    const given = localize(T.accountGiven, language, { date: dates.format(givenAtMs) });
    return html`<li>
      <div class="party">
        <strong>${client}</strong
        ><span>${given}${isRemembered && ` · ${localize(T.accountRemembered, language)}`}</span>
      </div>
      <form method="post" action="/account/withdraw">
        <input type="hidden" name="csrf" value="${csrf}" />
        <button
          class="button second small"
          type="submit"
          aria-label="${localize(T.withdrawFrom, language, { client })}"
        >
          ${localize(T.withdraw, language)}
        </button>
      </form>
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
    <p class="note"><a href="/logout">${localize(T.signOut, language)}</a></p>`;
  showPage(ctx, { title: localize(T.accountTitle, language), content });
}
