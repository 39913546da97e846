import { YEAR_SEC } from '../../../shared/clock.ts';
import type { BackToChat } from '../../platforms/platform.ts';

/** Headers of every sign-in page (SECURITY.md page-headers). */
export type PageHeaders = Readonly<Record<string, string>>;

/** What a page needs a script for. */
export interface ScriptedPage {
  back?: BackToChat;
  awaitsCode?: boolean;
}

/**
 * @param page how it returns to the chat, and whether it waits for the code to be typed; scripts are allowed only if one of
 * these needs them
 */
export function pageHeaders(page: ScriptedPage): PageHeaders {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(page.back?.kind === 'close-window' || page.awaitsCode ? ["script-src 'self'"] : []),
    ...(page.awaitsCode ? ["connect-src 'self'"] : []),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy.join('; '),
    // With no-referrer, browsers would send `Origin: null` with the forms, which the Origin check refuses.
    'Referrer-Policy': 'same-origin',
    'Strict-Transport-Security': `max-age=${YEAR_SEC}`,
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Language',
  };
}
