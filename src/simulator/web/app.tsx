import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { Language } from '../../shared/text/texts.ts';
import type { Bootstrap } from '../api.ts';
import { fetchBootstrap } from './api-client.ts';
import { createDrafts } from './drafts.ts';
import { keepFocus } from './focus-keeper.ts';
import { inAppLinks } from './links.ts';
import { mentionCutter } from './mentions.ts';
import { choosePerson } from './people.ts';
import { Session } from './session.tsx';
import { createThinkingClock } from './thinking-clock.ts';
import { sayIn } from './page-texts.ts';
import { useNotice } from './use-notice.ts';

const PERSON_KEY = 'person';

/** Loads the page's initial data, and selects the tab's person. */
export function App({ language }: { language: Language }) {
  const say = useMemo(() => sayIn(language), [language]);
  const [bootstrap, setBootstrap] = useState<Bootstrap | 'failed' | undefined>(undefined);
  const load = useCallback(() => {
    setBootstrap(undefined);
    fetchBootstrap().then(setBootstrap, () => setBootstrap('failed'));
  }, []);
  useEffect(load, [load]);

  if (bootstrap === undefined || bootstrap === 'failed') {
    return (
      <main class="load-state whole">
        <p>{say(bootstrap === undefined ? 'loading' : 'startFailed')}</p>
        {bootstrap === 'failed' && (
          <button type="button" class="text-button" onClick={load}>
            {say('tryAgain')}
          </button>
        )}
      </main>
    );
  }
  return <People bootstrap={bootstrap} language={language} />;
}

function People({ bootstrap, language }: { bootstrap: Bootstrap; language: Language }) {
  const [personId, setPersonId] = useState(() =>
    choosePerson(
      bootstrap.people.map(({ id }) => id),
      location.search,
      sessionStorage.getItem(PERSON_KEY),
    ),
  );
  const [notice, notify] = useNotice();
  const lasting = useMemo(() => {
    const say = sayIn(language);
    return {
      bootstrap,
      language,
      say,
      times: { locale: navigator.language, say },
      drafts: createDrafts(localStorage),
      thinking: createThinkingClock(),
      isInApp: inAppLinks(bootstrap.inAppOrigins),
      cutMentions: mentionCutter([bootstrap.botName, ...bootstrap.people.map(({ name }) => name)]),
    };
  }, [bootstrap, language]);
  const person = bootstrap.people.find(({ id }) => id === personId);
  const facts = useMemo(() => person && { ...lasting, person, notify }, [lasting, person, notify]);

  useEffect(keepFocus, []);
  useEffect(() => {
    document.documentElement.dataset['botName'] = bootstrap.botName;
  }, [bootstrap]);
  useEffect(() => {
    if (personId === undefined) return;
    sessionStorage.setItem(PERSON_KEY, personId);
    const query = new URLSearchParams(location.search);
    query.set('person', personId);
    history.replaceState(null, '', `${location.pathname}?${query}${location.hash}`);
  }, [personId]);

  return (
    <div class="app">
      {facts ? (
        <Session key={facts.person.id} facts={facts} onPerson={setPersonId} />
      ) : (
        <main class="load-state whole">
          <p>{lasting.say('noPeople')}</p>
        </main>
      )}
      <div class="notice-place" role="status">
        {notice !== undefined && <div class="notice">{notice}</div>}
      </div>
    </div>
  );
}
