import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { WorkerView } from '../../local-controls.ts';
import type { LoggedMessage } from '../message-log.ts';
import type { PageState } from '../page-state.ts';
import { ApiError } from '../api-client.ts';
import { killWorker } from './local-api.ts';
import { answersBeside, wasStopped } from './what-happened.ts';

/** Measurements since the bot was killed. */
export interface KillShow {
  view: WorkerView;
  /** From the kill until the replacement process continued the answer. Milliseconds. */
  wentOnAfterMs: number | undefined;
  /**
   * `once`: complete, and it continues the existing text. `stopped`: it continued so, until the person stopped it. `again`:
   * the model generated it again.
   */
  end: 'once' | 'stopped' | 'again' | undefined;
}

/** The demonstration, and how to start it. */
export interface KillShowing {
  show: KillShow | undefined;
  isWaiting: boolean;
  kill(message: LoggedMessage): void;
}

interface Kill {
  view: WorkerView;
  atMs: number;
  message: LoggedMessage;
  /**
   * The answer's text when the replacement process started, and each longer text after that, with the time since the kill.
   */
  looks: { text: string; afterMs: number }[];
}

/** The first longer text may still be the dead process' last one, which the app had not fetched yet; the second cannot. */
const SURE_LOOK = 2;
/** Slack briefly shows an answer as complete while another process takes it over. */
const SETTLED_MS = 2_000;

/** Kills the bot's worker while an answer grows, and measures on this page what happens to the answer. */
export function useKillShow(state: PageState, onFault: (code: 'killTooSoon' | 'killFailed') => void): KillShowing {
  const [kill, setKill] = useState<Kill | undefined>(undefined);
  const [isWaiting, setWaiting] = useState(false);
  const killing = useRef(false);
  const log = (kill && state.logs[kill.message.conversationId]) ?? [];
  const message = kill && log.find(({ id }) => id === kill.message.id);
  const next = kill && state.worker?.killedProcessId === kill.view.killedProcessId ? state.worker.next : undefined;
  const text = message?.text;
  const isFinal = message?.state === 'final';
  const isStopped = message !== undefined && wasStopped(message);
  const killedAtMs = kill?.atMs;

  const isSettled = useStableFor(isFinal, SETTLED_MS);

  useEffect(() => {
    if (killedAtMs === undefined || next === undefined || text === undefined) return;
    setKill((now) => {
      if (now?.atMs !== killedAtMs || now.looks.length > SURE_LOOK) return now;
      if (now.looks.at(-1)?.text.startsWith(text)) return now;
      return { ...now, looks: [...now.looks, { text, afterMs: performance.now() - now.atMs }] };
    });
  }, [killedAtMs, next, text]);

  const isOnce = isSettled && kill !== undefined && answersBeside(log, kill.message.id) === 1;
  const show = useMemo<KillShow | undefined>(() => {
    if (!kill) return undefined;
    const sure = kill.looks[SURE_LOOK] ?? (isSettled ? kill.looks.at(-1) : undefined);
    const goesOn = text?.startsWith(kill.message.text.trimEnd()) === true;
    return {
      view: { ...kill.view, next },
      wentOnAfterMs: sure?.afterMs,
      end: isOnce && sure ? (!goesOn ? 'again' : isStopped ? 'stopped' : 'once') : undefined,
    };
  }, [kill, next, isSettled, isOnce, isStopped, text]);

  return {
    show,
    isWaiting,
    kill(growing) {
      if (killing.current) return;
      killing.current = true;
      setWaiting(true);
      const atMs = performance.now();
      killWorker()
        .then(
          (view) => setKill({ view, atMs, message: growing, looks: [] }),
          (error: unknown) =>
            onFault(error instanceof ApiError && error.code === 'rate_limited' ? 'killTooSoon' : 'killFailed'),
        )
        .finally(() => {
          killing.current = false;
          setWaiting(false);
        });
    },
  };
}

/** Whether a condition has been true for this time without interruption. */
function useStableFor(holds: boolean, forMs: number): boolean {
  const [hasHeld, setHeld] = useState(false);
  useEffect(() => {
    if (!holds) {
      setHeld(false);
      return;
    }
    const timer = setTimeout(() => setHeld(true), forMs);
    return () => clearTimeout(timer);
  }, [holds, forMs]);
  return holds && hasHeld;
}
