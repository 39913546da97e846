import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { PageState } from '../page-state.ts';
import type { PageContext } from '../page-context.ts';
import { keepProgress, readProgress, withSteps } from './tour-progress.ts';
import { tourIn } from './tour-texts.ts';
import { useKillShow, type KillShowing } from './use-kill-show.ts';
import { stepsSeen, type Step } from './what-happened.ts';

const CHANNEL = 'parley-people';

/** Whether another tab of this browser is, or was, another person while this tab is open. */
function useOthersBeside(personId: string): boolean {
  const [isBeside, setBeside] = useState(false);
  useEffect(() => {
    if (typeof BroadcastChannel === 'undefined') return;
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = ({ data }: MessageEvent<{ person: string; asks: boolean }>) => {
      if (data.person !== personId) setBeside(true);
      if (data.asks) channel.postMessage({ person: personId, asks: false });
    };
    channel.postMessage({ person: personId, asks: true });
    return () => channel.close();
  }, [personId]);
  return isBeside;
}

export interface Tour {
  done: ReadonlySet<Step>;
  isHidden: boolean;
  toggle(): void;
  /** Called when an action leads to the chat, which a phone then shows without the tour. */
  leave(): void;
  /** State of the bot after a kill, also while the tour is hidden. */
  killShow: KillShowing;
}

type TourFacts = Pick<PageContext, 'person' | 'bootstrap' | 'language' | 'notify'>;

/**
 * The tour's state: steps are completed by what happened in this or another tab, never by pressing "next". On a phone the
 * tour is closed until the reader opens it.
 */
export function useTour(state: PageState, facts: TourFacts, isWide: boolean): Tour {
  const { person, bootstrap, language, notify } = facts;
  const [progress, setProgress] = useState(() => readProgress(localStorage));
  const mark = useCallback((...steps: Step[]) => setProgress((now) => withSteps(now, steps)), []);
  useEffect(() => {
    const seen = stepsSeen({
      logs: state.logs,
      conversations: state.conversations ?? [],
      personId: person.id,
      botName: bootstrap.botName,
    });
    mark(...seen);
  }, [state.logs, state.conversations, person.id, bootstrap.botName, mark]);
  const isBeside = useOthersBeside(person.id);
  useEffect(() => {
    if (isBeside) mark('second');
  }, [isBeside, mark]);
  const killShow = useKillShow(state, (code) => notify(tourIn(language)(code)));
  const isKillOver = killShow.show?.end !== undefined;
  useEffect(() => {
    if (isKillOver) mark('kill');
  }, [isKillOver, mark]);
  useEffect(() => keepProgress(localStorage, progress), [progress]);
  useEffect(() => {
    const follow = ({ storageArea }: StorageEvent) => {
      if (storageArea === localStorage) setProgress((now) => withSteps(now, readProgress(localStorage).done));
    };
    addEventListener('storage', follow);
    return () => removeEventListener('storage', follow);
  }, []);
  const [isOpenOnPhone, setOpenOnPhone] = useState(false);
  const toggle = useCallback(() => {
    if (isWide) setProgress((now) => ({ ...now, isHidden: !now.isHidden }));
    else setOpenOnPhone((isOpen) => !isOpen);
  }, [isWide]);
  const leave = useCallback(() => setOpenOnPhone(false), []);
  const done = useMemo(() => new Set(progress.done), [progress]);
  return { done, isHidden: isWide ? progress.isHidden : !isOpenOnPhone, toggle, leave, killShow };
}
