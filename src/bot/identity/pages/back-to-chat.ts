import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Language } from '../../../shared/text/texts.ts';
import type { BackToChat } from '../../platforms/platform.ts';

export const BACK_SCRIPT_PATH = '/assets/back-to-chat.js';

/** Closes the page in the app's built-in browser. The text also says how to return. */
export const BACK_SCRIPT = `document.addEventListener('click', (event) => {
  const target = event.target;
  if (!(target instanceof Element) || !target.closest('[data-back="wecom"]')) return;
  const close = () => {
    const bridge = window.WeixinJSBridge;
    if (typeof bridge.invoke === 'function') bridge.invoke('closeWindow', {}, () => {});
    else bridge.call('closeWindow');
  };
  if (window.WeixinJSBridge) close();
  else document.addEventListener('WeixinJSBridgeReady', close, { once: true });
});
`;

const LABEL: Bilingual = { en: 'Back to the chat', zh: '返回聊天' };

/** The button that returns to the chat, if the app supports one. Otherwise the page's text says how. */
export function backToChat(
  back: BackToChat | undefined,
  { language, isPrimary }: { language: Language; isPrimary: boolean },
): SafeHtml | '' {
  if (!back) return '';
  const look = isPrimary ? 'primary' : 'plain';
  const label = localize(LABEL, language);
  return back.kind === 'close-window'
    ? html`<button class="${look}" type="button" data-back="${back.platform}">${label}</button>`
    : html`<a class="${look}" data-back="${back.platform}" href="${back.href}">${label}</a>`;
}
