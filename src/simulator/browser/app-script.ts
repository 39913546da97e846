import type { FrameAddresses } from './frame-address.ts';

/**
 * The parts of WeCom's script object that our pages use, and the key that closes the browser. Both navigate back to the
 * chat.
 */
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

/** Inserts the app's script at the beginning of a page's head. */
export function withAppScript(page: string, { script }: Pick<FrameAddresses, 'script'>): string {
  return page.replace(/<head(?:\s[^<>]*)?>/i, `$&<script src="${script}"></script>`);
}

/**
 * Extends a page's policy to allow the app's own script and nothing else: scripts that an app injects are not subject to a
 * page's policy.
 * @param address of the script, including its origin
 */
export function withAppScriptAllowed(policy: string, address: string): string {
  const directives = policy
    .split(';')
    .map((directive) => directive.trim().split(/\s+/))
    .filter(([name = '']) => name !== '');
  const named = (wanted: string) => directives.find(([name = '']) => name.toLowerCase() === wanted);
  const governing = named('script-src') ?? named('default-src');
  if (governing === undefined) return policy;
  const [, ...sources] = governing;
  const allowed = sources.filter((source) => source.toLowerCase() !== "'none'");
  const others = directives.filter(([name = '']) => name.toLowerCase() !== 'script-src');
  return [...others, ['script-src', ...allowed, address]].map((directive) => directive.join(' ')).join('; ');
}
