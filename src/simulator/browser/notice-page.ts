import type { Context } from 'koa';
import { html, trustedHtml } from '../../shared/text/html.ts';
import { languageOfHeader, localize, type Bilingual, type Language } from '../../shared/text/texts.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';

export interface Notice {
  language: Language;
  title: Bilingual;
  text: Bilingual;
  values?: Readonly<Record<string, string>>;
  /** An address to copy. */
  link?: string;
  /** Target of "Try again". */
  retry?: string;
  /** A question with several buttons as answers; the first is the default. */
  choices?: { action: string; name: string; values: Readonly<Record<string, Bilingual>> };
}

/** Style of these pages; they load nothing. */
const STYLE = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --ink: #1d2129; --soft: #5b6472; --line: #dfe3e8; --accent: #1f5fd0; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --page: #16181d; --card: #21252c; --ink: #eceef2; --soft: #a6aebb; --line: #363c46; --accent: #86b0ff; --on-accent: #10131a; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px 16px; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; }
main { width: 100%; max-width: 420px; padding: 32px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
h1 { margin: 0 0 8px; font-size: 20px; line-height: 28px; }
p { margin: 0; color: var(--soft); }
label { display: block; margin: 20px 0 4px; font-size: 14px; color: var(--soft); }
textarea { width: 100%; padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--page); color: inherit; font: 14px/20px ui-monospace, monospace; resize: vertical; }
a, button { display: inline-block; margin-top: 24px; padding: 8px 20px; border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: var(--on-accent);
  font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
form { display: flex; flex-wrap: wrap; gap: 0 12px; }
button + button { background: none; border-color: var(--line); color: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/**
 * Content security policy of these pages: only their own style. @param formAction allowed targets of their forms; defaults
 * to none
 */
export function noticePolicy(formAction = "'none'"): string {
  return `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action ${formAction}`;
}

/** Answers a request with such a page, which cannot be framed and is not kept. @param formAction see `noticePolicy` */
export function showNotice(
  context: Context,
  status: number,
  { formAction, ...page }: Omit<Notice, 'language'> & { formAction?: string },
): void {
  context.status = status;
  context.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `${noticePolicy(formAction)}; frame-ancestors 'none'`,
  });
  context.type = 'text/html; charset=utf-8';
  context.body = noticePage({ language: languageOfHeader(context.get('accept-language')), ...page });
}

/** A simple card that tells what happened and what to do. */
export function noticePage({ language, title, text, values = {}, link, retry, choices }: Notice): string {
  return html`<!doctype html>
    <html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${localize(title, language, values)}</title>
        <style>
          ${trustedHtml(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h1>${localize(title, language, values)}</h1>
          <p>${localize(text, language, values)}</p>
          ${
            link === undefined
              ? ''
              : html`<label for="link">${localize(MESSENGER_TEXTS.linkLabel, language)}</label
                  ><textarea id="link" rows="3" readonly>${link}</textarea>`
          }
          ${
            choices
              ? html`<form method="post" action="${choices.action}">
                  ${Object.entries(choices.values).map(
                    ([value, label]) =>
                      html`<button name="${choices.name}" value="${value}">${localize(label, language)}</button>`,
                  )}
                </form>`
              : ''
          }
          ${retry === undefined ? '' : html`<a href="${retry}">${localize(MESSENGER_TEXTS.tryAgain, language)}</a>`}
        </main>
      </body>
    </html>`.text;
}
