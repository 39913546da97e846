import { useEffect, useRef } from 'preact/hooks';
import type { LoggedMessage } from '../message-log.ts';
import { usePage } from '../page-context.ts';
import type { PageState } from '../page-state.ts';
import { tourIn, type SayTour } from './tour-texts.ts';
import type { KillShow } from './use-kill-show.ts';
import type { Tour } from './use-tour.ts';
import { isGrowing } from './what-happened.ts';

interface KillStepProps {
  tour: Tour;
  state: PageState;
  /** Asks for a long answer; absent if the step above has that button. */
  onLong?: () => void;
}

/**
 * Demonstrates our promise: kills the process that writes an answer, and shows what happened to the answer, as measured on
 * this page.
 */
export function KillStep({ tour, state, onLong }: KillStepProps) {
  const { language, times } = usePage();
  const say = tourIn(language);
  const { show, isWaiting, kill } = tour.killShow;
  const growing = growingAnswer(state);
  const lines = show ? linesOf(show, { say, locale: times.locale }) : [];
  const list = useRef<HTMLOListElement>(null);
  const told = lines.join('\n');
  // The panel may be shorter than its content.
  useEffect(() => {
    if (told !== '') list.current?.scrollIntoView({ block: 'nearest' });
  }, [told]);
  return (
    <>
      {!show && <p>{say('killHint')}</p>}
      <div class="kill-buttons">
        {onLong && (
          <button
            type="button"
            class="tour-action"
            aria-disabled={growing !== undefined}
            onClick={() => growing ?? onLong()}
          >
            {say('longAction')}
          </button>
        )}
        <button
          type="button"
          class="tour-action kill"
          aria-disabled={growing === undefined || isWaiting}
          onClick={() => growing && kill(growing)}
        >
          {say('killAction')}
        </button>
      </div>
      <ol class="kill-lines" aria-live="polite" ref={list}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ol>
    </>
  );
}

const END_TEXTS = { once: 'wholeOnce', stopped: 'stoppedOnce', again: 'askedAgain' } as const;

function growingAnswer({ logs }: PageState): LoggedMessage | undefined {
  return Object.values(logs)
    .flatMap((log) => log.filter(isGrowing))
    .at(-1);
}

function linesOf({ view, wentOnAfterMs, end }: KillShow, { say, locale }: { say: SayTour; locale: string }): string[] {
  const { killedProcessId, killedAtMs, next } = view;
  const secondsOf = (ms: number) =>
    (ms / 1000).toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const killed = say('killed', { process: killedProcessId, time: new Date(killedAtMs).toLocaleTimeString(locale) });
  if (!next) return [killed, say('awaitingNext')];
  const values = { process: next.processId, seconds: secondsOf(next.afterMs) };
  if (next.takenOver === 0 && wentOnAfterMs === undefined) return [killed, say('nothingTaken', values)];
  // An answer that continued was in progress, even if its takeover was not counted yet when the worker was ready.
  const succeeded = say('succeeded', values);
  if (wentOnAfterMs === undefined) return [killed, succeeded, say('awaitingGrowth')];
  const seconds = secondsOf(wentOnAfterMs);
  return [killed, succeeded, say(end === undefined ? 'wentOn' : END_TEXTS[end], { seconds })];
}
