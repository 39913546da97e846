import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { page } from './layout.ts';

const TEXTS = {
  title: { en: 'Going to the sign-in page', zh: '正在前往登录页面' },
  goOn: { en: 'Continue', zh: '继续' },
} as const satisfies Catalogue<string>;

interface Leaving {
  language: Language;
  to: string;
  title?: Bilingual;
}

/**
 * Follows a form and leads to the platform's or the institution's sign-in. Browsers apply `form-action` to each redirect after a
 * form, and a service may send people on to hosts that Parley does not know, such as those of a federation.
 */
export function leavingPage({ language, to, title = TEXTS.title }: Leaving): SafeHtml {
  const body = html`<p><a class="primary" href="${to}">${localize(TEXTS.goOn, language)}</a></p>`;
  return page({ language, title: localize(title, language), goesTo: to, body });
}
