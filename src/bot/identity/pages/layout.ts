import { html, plainName, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Language } from '../../../shared/text/texts.ts';
import type { BackToChat } from '../../platforms/platform.ts';
import { describePlatform } from '../../platforms/registry.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { maskId } from '../mask-id.ts';
import { BACK_SCRIPT_PATH } from './back-to-chat.ts';

export const STYLE_SHEET_PATH = '/assets/sign-in.css';

const HTML_LANGUAGE: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' };

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
  return html`<!doctype html>
    <html lang="${HTML_LANGUAGE[language]}" ${outcome && html` data-outcome="${outcome}"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        ${goesTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${goesTo}" />`}
        <title>${title}</title>
        <link rel="stylesheet" href="${STYLE_SHEET_PATH}" />
        ${scripts.map((path) => path && html`<script src="${path}" defer></script>`)}
      </head>
      <body>
        <main class="card">
          ${header ? html`<p class="institution">${header}</p>` : ''}
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`;
}

export function platformLabel(name: PlatformName, language: Language): string {
  return localize(describePlatform(name).label, language);
}

/** One of the two accounts. */
export interface AccountCard {
  /** Where the account belongs: the app or the institution. */
  place: string;
  name: string;
  detail: string;
  /** Not known yet: drawn as a placeholder. */
  isOpen?: boolean;
}

/** Two accounts side by side with an arrow between them. */
export function pairOf(left: AccountCard, right: AccountCard, joins: string): SafeHtml {
  return html`<div class="pair" role="group" aria-label="${left.name} ${joins} ${right.name}">
    ${seat(left)}
    <svg class="arrow" viewBox="0 0 32 16" width="32" height="16" aria-hidden="true" focusable="false">
      <path
        d="M2 8h26M22 2l6 6-6 6"
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
    ${seat(right)}
  </div>`;
}

function seat({ place, name, detail, isOpen }: AccountCard): SafeHtml {
  return html`<div class="${isOpen ? 'seat open' : 'seat'}">
    <span class="avatar" aria-hidden="true">${isOpen ? '?' : initialOf(name)}</span>
    <span class="place">${place}</span>
    <strong class="name" dir="auto">${name}</strong>
    <span class="detail">${detail}</span>
  </div>`;
}

function initialOf(name: string): string {
  return ([...name][0] ?? '?').toUpperCase();
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
