import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { htmlDocument, LANGUAGE_TAG } from '../../shared/pages/html-document.ts';
import { styleSheet } from '../../shared/pages/style-sheet.ts';
import { html, type SafeHtml } from '../../shared/text/html.ts';
import { languageOfHeader, localize, type Language } from '../../shared/text/texts.ts';
import { PAGE_TEXTS } from './service-page-texts.ts';

const STYLE = styleSheet(new URL('./style.css', import.meta.url));
const STYLE_PATH = `/style-${createHash('sha256').update(STYLE).digest('hex').slice(0, 12)}.css`;

export interface Page {
  title: string;
  content: SafeHtml;
  status?: number;
  /** Further origins that a form's redirect may lead to. */
  formTargets?: readonly string[];
  /** Outcome of the page, read by the local messenger. */
  outcome?: 'signed-out';
  /** A line below the card. */
  footer?: SafeHtml;
}

export function languageOf(ctx: Context): Language {
  return languageOfHeader(ctx.get('Accept-Language'));
}

/** Sends a page: one centered card, no scripts, and headers according to SECURITY.md page-headers. */
export function showPage(
  ctx: Context,
  { title, content, status = 200, formTargets = [], outcome, footer }: Page,
): void {
  const language = languageOf(ctx);
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.vary('Accept-Language');
  ctx.set('Content-Language', LANGUAGE_TAG[language]);
  ctx.set('Content-Security-Policy', contentPolicy(formTargets));
  const product = localize(PAGE_TEXTS.product, language);
  ctx.body = htmlDocument({
    language,
    title: `${title} · ${product}`,
    stylePath: STYLE_PATH,
    head: html`<link rel="icon" href="data:," />`,
    outcome,
    isCard: true,
    body: html`<header class="brand"><span class="mark" aria-hidden="true">P</span> Parley · ${product}</header>
      <main class="card">${content}</main>
      ${footer && html`<footer class="quiet">${footer}</footer>`}`,
  }).text;
}

/** Headers of every response for people. */
export function setSafeHeaders(ctx: Context): void {
  ctx.set({
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Strict-Transport-Security': 'max-age=31536000',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Content-Security-Policy': contentPolicy([]),
  });
}

/** Some browsers apply form-action to the redirect after a form, so it must include the client's origin. */
function contentPolicy(formTargets: readonly string[]): string {
  return `default-src 'none'; style-src 'self'; img-src data:; form-action ${["'self'", ...formTargets].join(' ')}; frame-ancestors 'none'; base-uri 'none'`;
}

/** Serves the style sheet. Its address changes with its content, so it may be cached. */
export function showStyle(ctx: Context): boolean {
  if (ctx.path !== STYLE_PATH) return false;
  ctx.type = 'text/css; charset=utf-8';
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.body = STYLE;
  return true;
}
