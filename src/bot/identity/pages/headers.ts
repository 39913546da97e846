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
 * @param formOrigins origins to which a form's response may redirect: browsers apply `form-action` to redirects after a
 * POST, so the origins of the sign-in service and the platforms are listed
 * @param page how it returns to the chat, and whether it waits for the code to be typed; scripts are allowed only if one of
 * these needs them
 */
export function pageHeaders(formOrigins: readonly string[], page: ScriptedPage): PageHeaders {
  const formAction = ["'self'", ...new Set(formOrigins)].join(' ');
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(page.back?.kind === 'close-window' || page.awaitsCode ? ["script-src 'self'"] : []),
    ...(page.awaitsCode ? ["connect-src 'self'"] : []),
    `form-action ${formAction}`,
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
