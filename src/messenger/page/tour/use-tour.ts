import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { PageState } from '../page-state.ts';
import type { PageFacts } from '../page-context.ts';
import { keepProgress, readProgress, withSteps } from './tour-progress.ts';
import { useOthersBeside } from './use-others-beside.ts';
import { stepsSeen, type Step } from './what-happened.ts';

export interface Tour {
  done: ReadonlySet<Step>;
  isHidden: boolean;
  toggle(): void;
  /** Ticks a step off that only its own part of the tour can see. */
  mark(step: Step): void;
}

/** The tour's state: steps are ticked off by what happened in this or another tab, never by pressing "next". */
export function useTour(state: PageState, { person, bootstrap }: Pick<PageFacts, 'person' | 'bootstrap'>): Tour {
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
  useEffect(() => keepProgress(localStorage, progress), [progress]);
  useEffect(() => {
    const follow = ({ storageArea }: StorageEvent) => {
      if (storageArea === localStorage) setProgress((now) => withSteps(now, readProgress(localStorage).done));
    };
    addEventListener('storage', follow);
    return () => removeEventListener('storage', follow);
  }, []);
  const toggle = useCallback(() => setProgress((now) => ({ ...now, isHidden: !now.isHidden })), []);
  return useMemo(
    () => ({ done: new Set(progress.done), isHidden: progress.isHidden, toggle, mark: (step: Step) => mark(step) }),
    [progress, toggle, mark],
  );
}
