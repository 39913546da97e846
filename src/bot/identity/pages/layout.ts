import type { AccountCard } from '../../../shared/pages/account-pair.ts';
import { htmlDocument } from '../../../shared/pages/html-document.ts';
import { html, plainName, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Language } from '../../../shared/text/texts.ts';
import type { BackToChat } from '../../platforms/platform.ts';
import { describePlatform } from '../../platforms/registry.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { maskId } from '../mask-id.ts';
import { BACK_SCRIPT_PATH } from './back-to-chat.ts';

export const STYLE_SHEET_PATH = '/assets/sign-in.css';

/** Set on the final pages of the flow. Read by the simulator. */
export type PageOutcome = 'done' | 'cancelled' | 'declined' | 'signed-out' | 'returned' | 'error';

interface PageOptions {
  language: Language;
  title: string;
  /** Name of the institution, shown above the card. */
  header?: string;
  outcome?: PageOutcome;
  back?: BackToChat;
  /** Path of the page's own script. The page must work without it. */
  script?: string;
  /** Address to which the browser goes on by itself. */
  goesTo?: string;
  body: SafeHtml;
}

/** A whole page with one centered card. Loads nothing external. */
export function page({ language, title, header, outcome, back, script, goesTo, body }: PageOptions): SafeHtml {
  const scripts = [back?.kind === 'close-window' ? BACK_SCRIPT_PATH : undefined, script];
  return htmlDocument({
    language,
    title,
    stylePath: STYLE_SHEET_PATH,
    head: html`${goesTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${goesTo}" />`}
    ${scripts.map((path) => path && html`<script src="${path}" defer></script>`)}`,
    outcome,
    isCard: true,
    body: html`<main class="card">
      ${header && html`<p class="brand">${header}</p>`}
      <h1>${title}</h1>
      ${body}
    </main>`,
  });
}

export function platformLabel(name: PlatformName, language: Language): string {
  return localize(describePlatform(name).label, language);
}

/** The chat user as the pages show them. */
export interface ShownPerson {
  platform: PlatformName;
  chatUserId: string;
  displayName?: string;
}

/** The chat account in a sentence: the name with the masked id, or only the id. */
export function chatAccount(person: ShownPerson, language: Language): string {
  const { name, detail } = chatSide(person, language);
  return plainName(person.displayName ?? '') === '' ? name : localize(NAMED_ACCOUNT, language, { name, id: detail });
}

const NAMED_ACCOUNT: Bilingual = { en: '{name} ({id})', zh: '{name}（{id}）' };

/** The chat account of a pair: platform, display name, masked id (SECURITY.md named-before-consent). */
export function chatSide({ platform, chatUserId, displayName }: ShownPerson, language: Language): AccountCard {
  const masked = maskId(plainName(chatUserId));
  const name = plainName(displayName ?? '');
  const account: Bilingual = { en: 'Chat account', zh: '聊天账号' };
  const place = platformLabel(platform, language);
  return name === '' ? { place, name: masked, detail: localize(account, language) } : { place, name, detail: masked };
}
