import { STEPS, type Step } from './what-happened.ts';

/** This browser's progress in the tour, for all of its tabs. */
export interface TourProgress {
  done: readonly Step[];
  isHidden: boolean;
}

/** The part of the browser's storage that is used. */
interface ProgressStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const KEY = 'tour';
const BEGINNING: TourProgress = { done: [], isHidden: false };

/** The stored progress; unreadable data counts as none. */
export function readProgress(storage: Pick<ProgressStorage, 'getItem'>): TourProgress {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? '{}') as Partial<Record<keyof TourProgress, unknown>>;
    const done = Array.isArray(kept.done) ? kept.done : [];
    return { done: STEPS.filter((step) => done.includes(step)), isHidden: kept.isHidden === true };
  } catch {
    return BEGINNING;
  }
}

/** Stores the progress, merged with steps that another tab has stored meanwhile. */
export function keepProgress(storage: ProgressStorage, progress: TourProgress): void {
  try {
    storage.setItem(KEY, JSON.stringify(withSteps(progress, readProgress(storage).done)));
  } catch {
    // A browser without storage shows the tour from the beginning each time.
  }
}

/** The progress with these steps done; the same object if nothing is new. */
export function withSteps(progress: TourProgress, steps: readonly Step[]): TourProgress {
  if (steps.every((step) => progress.done.includes(step))) return progress;
  return { ...progress, done: STEPS.filter((step) => progress.done.includes(step) || steps.includes(step)) };
}
