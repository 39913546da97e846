import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue } from '../../../shared/text/texts.ts';
import { describePlatform } from '../../platforms/registry.ts';
import type { Account } from '../../domain/account.ts';
import { MAX_ACCOUNT_CHARS, type PersonId } from '../../domain/ids.ts';
import type { LinkedPerson } from '../../identity/links/people-of-account.ts';
import { intro, resultText, table, textField, type ActView } from './layout.ts';
import { timeAt } from './times.ts';

const TEXTS = {
  lead: {
    en: 'Chat accounts that are linked to an account. A person whose link is revoked signs in again before the next answer.',
    zh: '查看与某个账号绑定的聊天账号。解除绑定后，该用户下次提问时需要重新登录。',
  },
  account: { en: 'Account (staff or student number)', zh: '账号（学工号）' },
  find: { en: 'Search', zh: '搜索' },
  none: { en: 'No chat account is linked to this account.', zh: '没有与此账号绑定的聊天账号。' },
  table: { en: 'Linked chat accounts', zh: '已绑定的聊天账号' },
  platform: { en: 'App', zh: '办公应用' },
  chat: { en: 'Chat account', zh: '聊天账号' },
  name: { en: 'Name', zh: '姓名' },
  state: { en: 'State', zh: '状态' },
  since: { en: 'Linked', zh: '绑定时间' },
  act: { en: 'Revoke', zh: '解除绑定' },
  revoke: { en: 'Revoke…', zh: '解除…' },
  about: { en: 'Revoke the link of {id}', zh: '解除 {id} 的绑定' },
  sure: { en: 'Deletes the link and its tokens.', zh: '将删除绑定及其令牌。' },
  confirm: { en: 'Revoke the link', zh: '解除绑定' },
} as const satisfies Catalogue<string>;

const RESULTS = {
  revoked: { en: 'The link was revoked.', zh: '已解除绑定。' },
  gone: { en: 'The link no longer exists.', zh: '该绑定已不存在。' },
} as const satisfies Catalogue<string>;

const STATES: Catalogue<Account['status']> = {
  active: { en: 'active', zh: '正常' },
  suspended: { en: 'suspended', zh: '已停用' },
  reauth: { en: 'must sign in again', zh: '需重新登录' },
};

/** A linked person as the page shows them. `details` is absent if the profile cannot be read. */
export interface ShownLink {
  person: LinkedPerson;
  key: PersonId;
  details: Account | undefined;
}

interface PeopleView extends ActView {
  timeZone: string;
  /** As typed; empty if none was. */
  account: string;
  links: readonly ShownLink[];
}

export function peopleBody({ frame, timeZone, account, links, result }: PeopleView): SafeHtml {
  const { language, csrf } = frame;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const field = { name: 'account', label: text('account'), value: account, maxChars: MAX_ACCOUNT_CHARS };
  const search = html`${textField(field)} <button class="primary" type="submit">${text('find')}</button>`;
  const row = ({ person, key, details }: ShownLink) => {
    const about = localize(TEXTS.about, language, { id: person.chatUserId });
    const hidden = html`<input type="hidden" name="account" value="${person.account}" />
      <input type="hidden" name="person" value="${key}" />`;
    const button = html`<button class="small danger" type="submit">${text('confirm')}</button>`;
    return html`<tr>
      <td>${localize(describePlatform(person.platform).label, language)}</td>
      <td><code>${person.chatUserId}</code></td>
      <td dir="auto">${details?.name}</td>
      <td>${details && localize(STATES[details.status], language)}</td>
      <td class="time">${details && details.linkedAtMs > 0 ? timeAt(details.linkedAtMs, timeZone) : '–'}</td>
      <td>
        <details>
          <summary aria-label="${about}">${text('revoke')}</summary>
          <p>${text('sure')}</p>
          ${postForm('/admin/people/revoke', csrf, html`${hidden}${button}`)}
        </details>
      </td>
    </tr>`;
  };
  const heads = [text('platform'), text('chat'), text('name'), text('state'), text('since'), text('act')];
  return html`${intro(text('lead'), resultText(RESULTS, result, language))}
    <div class="ask">${postForm('/admin/people', csrf, search)}</div>
    ${account !== '' && table(text('table'), heads, links.map(row), text('none'))}`;
}
