import { YEAR_SEC } from '../../../shared/clock.ts';
import type { BackToChat } from '../../platforms/platform.ts';

/** Headers of every sign-in page (SECURITY.md page-headers). */
export type PageHeaders = Readonly<Record<string, string>>;

/**
 * @param formOrigins origins that a form's answer may lead to: browsers apply `form-action` to the redirects that
 *   follow a POST, so the sign-in service's and the platforms' own are named one by one
 * @param back how the page leads back; our one script is allowed only where that needs it
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
    // Not no-referrer: browsers would then send `Origin: null` with the forms, which the Origin check refuses.
    'Referrer-Policy': 'same-origin',
    'Strict-Transport-Security': `max-age=${YEAR_SEC}`,
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Language',
  };
}
