import type { FrameAddresses } from './frame-address.ts';

/** WeCom's own object, as far as pages use it here, and the key that closes the browser. Both lead back to the chat. */
export function appScript({ back }: Pick<FrameAddresses, 'back'>): string {
  return `{
  const leave = () => location.assign(${JSON.stringify(back)});
  const act = (name) => void (name === 'closeWindow' && leave());
  window.WeixinJSBridge = { call: act, invoke: act };
  addEventListener('keydown', (event) => void (event.key === 'Escape' && !event.isComposing && leave()));
  document.dispatchEvent(new Event('WeixinJSBridgeReady'));
}
`;
}

const MAY_RUN = /(?:^|;)\s*script-src\s[^;]*'self'/i;

/** A page with the app's script at the beginning of its head, where its own policy lets it run. */
export function withAppScript(page: string, policy: string, { script }: Pick<FrameAddresses, 'script'>): string {
  return MAY_RUN.test(policy) ? page.replace(/<head(?:\s[^>]*)?>/i, `$&<script src="${script}"></script>`) : page;
}
