import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { leavingPage } from '../../identity/pages/leaving-page.ts';
import { cardPage, intro } from './layout.ts';

const TEXTS = {
  title: { en: 'Sign in', zh: '登录' },
  lead: {
    en: 'Only administrators can open these pages. If this page appears again after you signed in, your account is not one of theirs.',
    zh: '只有管理员可以打开这些页面。如果登录后仍看到本页，说明你的账号不是管理员账号。',
  },
  go: { en: 'Sign in with {service}', zh: '通过{service}登录' },
  again: { en: 'Try again', zh: '重试' },
  back: { en: 'Back to the overview', zh: '返回概览' },
  signedIn: { en: 'Returning to the administration', zh: '正在返回管理页面' },
} as const satisfies Catalogue<string>;

/** What everyone sees who has no session of an administrator (SECURITY.md admin-gate). */
export function strangerPage(view: { language: Language; service: Bilingual; csrf: string }): SafeHtml {
  const { language, service, csrf } = view;
  const name = localize(service, language);
  const spaced = language === 'zh' && /^[\x21-\x7e]/.test(name) ? ` ${name} ` : name;
  const label = localize(TEXTS.go, language, { service: spaced });
  const body = html`${intro(localize(TEXTS.lead, language))}
  ${postForm('/admin/sign-in', csrf, html`<button class="primary" type="submit">${label}</button>`)}`;
  return cardPage({ language, title: localize(TEXTS.title, language), path: '/admin', body });
}

/**
 * Follows the callback, for administrators and strangers alike. A redirect would still count as coming from the sign-in
 * service, so that the browser would withhold the strict cookie.
 */
export function returnPage(onward: { language: Language; to: string }): SafeHtml {
  return leavingPage({ ...onward, title: TEXTS.signedIn });
}

/** Why a request failed, and what to do. */
const FAILURES = {
  'page-expired': {
    title: { en: 'This page has expired', zh: '页面已过期' },
    next: {
      en: 'Nothing was changed. Go back, reload the page and try again.',
      zh: '未作任何更改。请返回、刷新页面后重试。',
    },
    status: 403,
  },
  'too-many-tries': {
    title: { en: 'Too many requests', zh: '请求过多' },
    next: { en: 'Wait a minute and try again.', zh: '请等一分钟再试。' },
    status: 429,
  },
  'service-failed': {
    title: { en: 'The sign-in failed', zh: '登录失败' },
    next: {
      en: 'The sign-in service refused the sign-in or did not answer. Try again in a few minutes.',
      zh: '登录服务拒绝了登录，或没有响应。请过几分钟再试。',
    },
    status: 502,
  },
  'not-found': {
    title: { en: 'There is no such page', zh: '没有这个页面' },
    next: { en: 'Check the address.', zh: '请检查地址。' },
    status: 404,
  },
  unavailable: {
    title: { en: 'Parley cannot read its data now', zh: '目前无法读取数据' },
    next: {
      en: 'Redis does not answer. Run npm run check to see the cause, then try again.',
      zh: 'Redis 没有响应。请运行 npm run check 查看原因，然后重试。',
    },
    status: 503,
  },
} as const satisfies Readonly<Record<string, { title: Bilingual; next: Bilingual; status: number }>>;

export type AdminFailure = keyof typeof FAILURES;

export function failurePage(view: { language: Language; failure: AdminFailure; reference: string }): {
  page: SafeHtml;
  status: number;
} {
  const { language, failure, reference } = view;
  const { title, next, status } = FAILURES[failure];
  const label = localize(failure === 'not-found' || failure === 'page-expired' ? TEXTS.back : TEXTS.again, language);
  const body = html`${intro(localize(next, language))}
    <p><a class="primary" href="/admin">${label}</a></p>
    <p class="quiet"><code>${reference}</code></p>`;
  return { page: cardPage({ language, title: localize(title, language), path: '/admin', body }), status };
}
