import type { SafeHtml } from '../../../shared/text/html.ts';
import type { Language } from '../../../shared/text/texts.ts';
import type { BackToChat } from '../../platforms/platform.ts';

/** What a step reads of a browser's request. */
export interface BrowserRequest {
  language: Language;
  userAgent: string;
  /** The valid value of the browser cookie. */
  cookie?: string;
  querystring: string;
  origin?: string;
  secFetchSite?: string;
  form: Readonly<Record<string, unknown>>;
}

/** What a step answers. `cookie` is a new value of the browser cookie. */
export type PageOutcome =
  | { kind: 'page'; page: SafeHtml; cookie?: string; back?: BackToChat }
  /** `isCallback`: the address holds a code, which the next page must not learn. */
  | { kind: 'redirect'; location: string; cookie?: string; isCallback?: boolean };

/** One request of a sign-in. @throws PageError */
export type Step = (request: BrowserRequest) => Promise<PageOutcome>;

/** One that is about what the address names. @throws PageError */
export type StepOf<Named> = (request: BrowserRequest, named: Named) => Promise<PageOutcome>;
