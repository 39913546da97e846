import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context } from 'koa';
import { html, type SafeHtml } from '../../shared/text/html.ts';
import { languageOfHeader, localize, type Language } from '../../shared/text/texts.ts';
import { PAGE_TEXTS } from './service-page-texts.ts';

const STYLE = ['./colours.css', './style.css']
  .map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))
  .join('\n');
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
  ctx.set('Content-Language', language === 'zh' ? 'zh-CN' : 'en');
  ctx.set('Content-Security-Policy', contentPolicy(formTargets));
  ctx.body = html`<!doctype html>
    <html lang="${language === 'zh' ? 'zh-CN' : 'en'}" ${outcome && html` data-outcome="${outcome}"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${localize(PAGE_TEXTS.product, language)}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <div class="page">
          <header class="brand">
            <span class="mark" aria-hidden="true">P</span
            ><span>Parley · ${localize(PAGE_TEXTS.product, language)}</span>
          </header>
          <main class="card">${content}</main>
          ${footer && html`<footer class="below">${footer}</footer>`}
        </div>
      </body>
    </html>`.text;
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
