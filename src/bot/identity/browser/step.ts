import type { SafeHtml } from '../../../shared/text/html.ts';
import type { Language } from '../../../shared/text/texts.ts';
import type { BackToChat } from '../../platforms/platform.ts';

/** The parts of a browser's request that a step reads. */
export interface BrowserRequest {
  language: Language;
  userAgent: string;
  /** Value of the browser cookie, if valid. */
  cookie?: string;
  querystring: string;
  origin?: string;
  secFetchSite?: string;
  form: Readonly<Record<string, unknown>>;
}

/** The result of a step. `cookie` is a new value of the browser cookie. */
export type PageOutcome =
  /** `awaitsCode`: the page waits for its code to be typed. */
  | { kind: 'page'; page: SafeHtml; cookie?: string; back?: BackToChat; awaitsCode?: boolean }
  /** `isCallback`: the current address contains a code, which must not leak to the next page. */
  | { kind: 'redirect'; location: string; cookie?: string; isCallback?: boolean };

/** Handles one request of a sign-in. @throws PageError */
export type Step = (request: BrowserRequest) => Promise<PageOutcome>;

/** A step with a parameter from the path. @throws PageError */
export type StepOf<Named> = (request: BrowserRequest, named: Named) => Promise<PageOutcome>;
