import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { page } from '../../../bot/identity/pages/layout.ts';
import type { ProbeSession } from './session.ts';

const TEXTS: Catalogue<
  | 'start'
  | 'startLead'
  | 'own'
  | 'begin'
  | 'step'
  | 'working'
  | 'go'
  | 'away'
  | 'again'
  | 'skip'
  | 'signOut'
  | 'signOutLead'
  | 'signOutLink'
  | 'signedOut'
  | 'over'
  | 'overLead'
  | 'stranger'
  | 'strangerLead'
  | 'back'
> = {
  start: { en: 'Test the sign-in service', zh: '检测登录服务' },
  startLead: {
    en: 'You will sign in with your own account up to {count} times in a row, usually without typing anything. No account is connected and no data is stored.',
    zh: '你将用自己的账号连续登录，最多 {count} 次，其中多数无需再次输入密码。不会建立任何绑定，也不会保留任何信息。',
  },
  own: {
    en: 'Continue only if you started this check yourself.',
    zh: '仅当本次检测由你本人发起时才继续。',
  },
  begin: { en: 'Begin', zh: '开始' },
  step: { en: 'Step {step} of {count}', zh: '第 {step} 步，共 {count} 步' },
  working: {
    en: 'This page continues automatically. Some steps wait intentionally.',
    zh: '页面会自动继续，部分步骤需要等待几秒。',
  },
  go: { en: 'Continue', zh: '继续' },
  away: {
    en: 'The sign-in service has not returned you from this step.',
    zh: '登录服务尚未从这一步返回。',
  },
  again: { en: 'Retry this step', zh: '重试这一步' },
  skip: { en: 'It showed an error, continue', zh: '登录服务显示错误，跳过此步' },
  signOut: { en: 'Sign out now', zh: '请退出登录' },
  signOutLead: {
    en: 'Sign out at the sign-in service in a new tab, then return to this page.',
    zh: '请在新标签页中退出登录服务，然后返回此页面。',
  },
  signOutLink: { en: 'Sign out there', zh: '打开退出页面' },
  signedOut: { en: 'I have signed out', zh: '我已退出登录' },
  over: { en: 'The check is complete', zh: '检测完成' },
  overLead: {
    en: 'The results and suggested settings are shown in the terminal. You can close this page.',
    zh: '结果和建议的设置已显示在终端中，你可以关闭此页面。',
  },
  stranger: { en: 'This page is not part of the check', zh: '此页面不属于本次检测' },
  strangerLead: {
    en: 'Use the link shown in the terminal, and stay in the same browser.',
    zh: '请使用终端中显示的链接，并在同一个浏览器中完成检测。',
  },
  back: { en: 'Back to the check', zh: '返回检测' },
};

interface PageView {
  language: Language;
  /** The unguessable path of the probe. */
  path: string;
  header: string;
}

/** The first page, shown before anything happens. */
export function startPage({ language, path, header }: PageView, stepCount: number): SafeHtml {
  const body = html`<p class="lead">${localize(TEXTS.startLead, language, { count: stepCount })}</p>
    <p class="notice" role="note">${localize(TEXTS.own, language)}</p>
    ${button(`${path}/start`, localize(TEXTS.begin, language), 'primary')}`;
  return page({ language, title: localize(TEXTS.start, language), header, body });
}

/** The progress page. Reloads itself unless a decision is needed. */
export function statusPage(view: PageView, session: ProbeSession, logoutUrl: string): SafeHtml {
  const { language, path, header } = view;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const show = (title: string, body: SafeHtml) => page({ language, title, header, body });
  if (!session.round) return show(text('over'), html`<p class="lead">${text('overLead')}</p>`);
  const step = localize(TEXTS.step, language, { step: session.step, count: session.stepCount });
  const lead = html`<p class="lead">${localize(session.round.title, language)}</p>`;
  switch (session.phase) {
    case 'ready':
      return show(step, html`${lead}<a class="primary" href="${path}/go">${text('go')}</a>`);
    case 'away':
      return show(
        step,
        html`${lead}
          <p>${text('away')}</p>
          <a class="primary" href="${path}/go">${text('again')}</a>
          ${button(`${path}/skip`, text('skip'), 'plain')}`,
      );
    case 'signing-out':
      return show(
        text('signOut'),
        html`<p class="lead">${text('signOutLead')}</p>
          <a class="primary" href="${logoutUrl}" target="_blank" rel="noopener noreferrer">${text('signOutLink')}</a>
          ${button(`${path}/signed-out`, text('signedOut'), 'plain')}`,
      );
    case 'working':
    case 'over':
      return show(
        step,
        html`${lead}
          <p class="quiet">${text('working')}</p>`,
      );
  }
}

/** Shown in another browser and for a callback that does not match. */
export function strangerPage({ language, path, header }: PageView, mayGoBack: boolean): SafeHtml {
  const back = mayGoBack ? html`<a class="primary" href="${path}">${localize(TEXTS.back, language)}</a>` : '';
  const body = html`<p class="lead">${localize(TEXTS.strangerLead, language)}</p>
    ${back}`;
  return page({ language, title: localize(TEXTS.stranger, language), header, body });
}

function button(action: string, label: string, look: 'primary' | 'plain'): SafeHtml {
  return html`<form method="post" action="${action}"><button class="${look}" type="submit">${label}</button></form>`;
}
