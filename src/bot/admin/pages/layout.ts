import { htmlDocument, LANGUAGE_TAG, postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Catalogue, type Language } from '../../../shared/text/texts.ts';

export const ADMIN_STYLE_PATH = '/admin/page.css';

/** The pages of the navigation, by path. */
const PAGES = {
  '/admin': { en: 'Overview', zh: '概览' },
  '/admin/trace': { en: 'Trace', zh: '追踪' },
  '/admin/dead-letters': { en: 'Dead letters', zh: '死信' },
  '/admin/pauses': { en: 'Pauses', zh: '暂停' },
  '/admin/budgets': { en: 'Budgets', zh: '额度' },
  '/admin/usage': { en: 'Usage', zh: '用量' },
  '/admin/unanswered': { en: 'Unanswered', zh: '未解答' },
  '/admin/people': { en: 'People', zh: '用户' },
} as const satisfies Readonly<Record<string, Bilingual>>;

export type AdminPath = keyof typeof PAGES;

const LANGUAGE_NAMES = { en: 'English', zh: '中文' } as const;

const TEXTS = {
  brand: { en: 'Parley administration', zh: 'Parley 管理' },
  skip: { en: 'Skip to the content', zh: '跳到正文' },
  pages: { en: 'Pages', zh: '页面' },
  signOut: { en: 'Sign out', zh: '退出登录' },
  account: { en: 'Signed in as {account}', zh: '已登录：{account}' },
} as const satisfies Catalogue<string>;

/** What every page of a signed-in administrator shows. */
export interface Frame {
  language: Language;
  account: string;
  csrf: string;
}

/** What a page with acts shows besides its content. */
export interface ActView {
  frame: Frame;
  /** Result of the act that led here; empty without one. */
  result: string;
}

interface CardOptions {
  language: Language;
  title: string;
  /** Where the switch of the language leads. */
  path: string;
  body: SafeHtml;
}

/** A page for strangers and for errors: one card. */
export function cardPage({ language, title, path, body }: CardOptions): SafeHtml {
  return htmlDocument({
    language,
    title,
    stylePath: ADMIN_STYLE_PATH,
    isCard: true,
    body: html`<main class="card">
      <p class="brand">${localize(TEXTS.brand, language)}</p>
      <h1>${title}</h1>
      ${body}
      <p class="quiet">${languageSwitch(language, path)}</p>
    </main>`,
  });
}

/** A page with navigation. */
export function framedPage(
  { language, account, csrf }: Frame,
  { path, body }: { path: AdminPath; body: SafeHtml },
): SafeHtml {
  const title = localize(PAGES[path], language);
  const links = Object.entries(PAGES).map(
    ([to, name]) =>
      html`<li>
        <a href="${to}" ${to === path && html` aria-current="page"`}>${localize(name, language)}</a>
      </li>`,
  );
  const brand = localize(TEXTS.brand, language);
  return htmlDocument({
    language,
    title: `${title} · ${brand}`,
    stylePath: ADMIN_STYLE_PATH,
    isCard: false,
    body: html`<a class="skip" href="#content">${localize(TEXTS.skip, language)}</a>
      <header class="bar">
        <p class="brand">${brand}</p>
        <nav aria-label="${localize(TEXTS.pages, language)}">
          <ul>
            ${links}
          </ul>
        </nav>
        <div class="me">
          ${languageSwitch(language, path)}
          <span>${localize(TEXTS.account, language, { account })}</span>
          ${postForm('/admin/sign-out', csrf, html`<button class="plain">${localize(TEXTS.signOut, language)}</button>`)}
        </div>
      </header>
      <main id="content" tabindex="-1">
        <h1>${title}</h1>
        ${body}
      </main>`,
  });
}

/** The beginning of a page: its purpose, and the result of the act that led to it. */
export function intro(lead: string, result?: string): SafeHtml {
  return html`<p class="lead">${lead}</p>
    ${result !== undefined && html`<p class="notice" role="status">${result}</p>`}`;
}

/** The sentence about an act. @param result the `result` of the address; any other text has no sentence */
export function resultText(results: Catalogue<string>, result: string, language: Language): string | undefined {
  const text = Object.hasOwn(results, result) ? results[result] : undefined;
  return text && localize(text, language);
}

/** What is wrong with the input. Fields with `isWrong` refer to it. */
export function complaint(text: string | undefined): SafeHtml | undefined {
  return text === undefined ? undefined : html`<p class="notice" id="complaint" role="alert">${text}</p>`;
}

export function emptyState(text: string): SafeHtml {
  return html`<p class="empty">${text}</p>`;
}

interface Field {
  name: string;
  label: string;
  /** As typed or chosen before. */
  value: string;
  isWrong?: boolean;
}

const WRONG = html` aria-describedby="complaint" aria-invalid="true"`;

/** A line of text with its label. */
export function textField(
  field: Field & { maxChars: number; isRequired?: boolean; isNumber?: boolean; suggestions?: readonly string[] },
): SafeHtml {
  const {
    name,
    label,
    value,
    maxChars,
    isRequired = true,
    isNumber = false,
    isWrong = false,
    suggestions = [],
  } = field;
  return html`<span class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      value="${value}"
      autocomplete="off"
      spellcheck="false"
      maxlength="${maxChars}"
      ${suggestions.length > 0 && html` list="suggestions"`}
      ${isNumber && html` inputmode="numeric"`}
      ${isRequired && html` required`}
      ${isWrong && WRONG}
    />
    ${
      suggestions.length > 0 &&
      html`<datalist id="suggestions">${suggestions.map((one) => html`<option value="${one}"></option>`)}</datalist>`
    }
  </span>`;
}

/** A choice with its label. An option without a value must be replaced by another one. */
export function selectField(field: Field & { options: readonly (readonly [value: string, text: string])[] }): SafeHtml {
  const { name, label, value, options, isWrong = false } = field;
  const written = options.map(
    ([one, text]) => html`<option value="${one}" ${one === value && html` selected`}>${text}</option>`,
  );
  return html`<span class="field">
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}" required ${isWrong && WRONG}>
      ${written}
    </select>
  </span>`;
}

/** A table that scrolls by itself where it is too wide. @param empty shown instead of a table without rows */
export function table(label: string, heads: readonly string[], rows: readonly SafeHtml[], empty?: string): SafeHtml {
  if (empty !== undefined && rows.length === 0) return emptyState(empty);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function languageSwitch(language: Language, path: string): SafeHtml {
  const other = language === 'zh' ? 'en' : 'zh';
  const tag = LANGUAGE_TAG[other];
  return html`<a href="${path}?lang=${other}" lang="${tag}" hreflang="${tag}">${LANGUAGE_NAMES[other]}</a>`;
}
