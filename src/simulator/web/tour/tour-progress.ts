import { STEPS, type Step } from './what-happened.ts';

/** What this browser knows of the tour, whoever its tabs are. */
export interface TourProgress {
  done: readonly Step[];
  isHidden: boolean;
}

/** What is used of the browser's storage. */
interface ProgressStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const KEY = 'tour';
const BEGINNING: TourProgress = { done: [], isHidden: false };

/** What was kept; what cannot be read counts as nothing. */
export function readProgress(storage: Pick<ProgressStorage, 'getItem'>): TourProgress {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? '{}') as Partial<Record<keyof TourProgress, unknown>>;
    const done = Array.isArray(kept.done) ? kept.done : [];
    return { done: STEPS.filter((step) => done.includes(step)), isHidden: kept.isHidden === true };
  } catch {
    return BEGINNING;
  }
}

/** Keeps the progress, with the steps that another tab has kept since this one read them. */
export function keepProgress(storage: ProgressStorage, progress: TourProgress): void {
  try {
    storage.setItem(KEY, JSON.stringify(withSteps(progress, readProgress(storage).done)));
  } catch {
    // A browser that keeps nothing shows the tour anew each time.
  }
}

/** The progress with these steps done; the very same where nothing is new. */
export function withSteps(progress: TourProgress, steps: readonly Step[]): TourProgress {
  if (steps.every((step) => progress.done.includes(step))) return progress;
  return { ...progress, done: STEPS.filter((step) => progress.done.includes(step) || steps.includes(step)) };
}
