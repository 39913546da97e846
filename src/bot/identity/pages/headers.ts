import { YEAR_SEC } from '../../../shared/clock.ts';
import type { BackToChat } from '../../platforms/platform.ts';

/** Headers of every sign-in page (SECURITY.md page-headers). */
export type PageHeaders = Readonly<Record<string, string>>;

/**
 * @param formOrigins origins to which a form's response may redirect: browsers apply `form-action` to redirects after a
 * POST, so the origins of the sign-in service and the platforms are listed
 * @param back how the page returns to the chat; the script is allowed only if this needs it
 */
export function pageHeaders(formOrigins: readonly string[], back?: BackToChat): PageHeaders {
  const formAction = ["'self'", ...new Set(formOrigins)].join(' ');
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(back?.kind === 'close-window' ? ["script-src 'self'"] : []),
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
