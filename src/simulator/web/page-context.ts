import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Language } from '../../shared/text/texts.ts';
import type { Bootstrap, PersonView } from '../api.ts';
import type { Drafts } from './drafts.ts';
import type { IsInApp } from './links.ts';
import type { CutMentions } from './mentions.ts';
import type { Say } from './page-texts.ts';
import type { ThinkingClock } from './thinking-clock.ts';
import type { TimeStyle } from './times.ts';

/** Context of the whole page; changes only with the person. */
export interface PageContext {
  bootstrap: Bootstrap;
  person: PersonView;
  language: Language;
  say: Say;
  times: TimeStyle;
  drafts: Drafts;
  thinking: ThinkingClock;
  isInApp: IsInApp;
  cutMentions: CutMentions;
  /** Opens a link in the in-app browser. */
  openInApp(href: string): void;
  /** Shows a short notice for a few seconds. */
  notify(text: string): void;
}

const Facts = createContext<PageContext | undefined>(undefined);

export const PageFactsProvider = Facts.Provider;

/** The page's context; only for components inside the provider. */
export function usePage(): PageContext {
  const facts = useContext(Facts);
  if (facts === undefined) throw new Error('A component was used outside of PageFactsProvider');
  return facts;
}
