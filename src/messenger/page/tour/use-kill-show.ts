import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { WorkerView } from '../../local-controls.ts';
import type { LoggedMessage } from '../message-log.ts';
import type { PageState } from '../page-state.ts';
import { ApiError } from '../api-client.ts';
import { killWorker } from './local-api.ts';
import { answersBeside } from './what-happened.ts';

/** What was measured since the bot was killed. */
export interface KillShow {
  view: WorkerView;
  /** From the kill until the answer grew by the next process' hand. Milliseconds. */
  wentOnAfterMs: number | undefined;
  /** `once`: whole, and it goes on from what stood there. `anew`: whole, and the model worded it anew. */
  end: 'once' | 'anew' | undefined;
}

interface Kill {
  view: WorkerView;
  atMs: number;
  message: LoggedMessage;
  /** The answer's text when the next process was there, and each that went beyond it. */
  looks: string[];
  wentOnAfterMs?: number;
}

/** The first text beyond may still be the dead process' last word, which the app had not fetched yet: the second is not. */
const SURE_LOOKS = 3;

/** Ends the bot's worker while an answer grows, and measures on this page what becomes of it. */
export function useKillShow(
  state: PageState,
  onFault: (code: 'killTooSoon' | 'killFailed') => void,
): { show: KillShow | undefined; isWaiting: boolean; kill(message: LoggedMessage): void } {
  const [kill, setKill] = useState<Kill | undefined>(undefined);
  const [isWaiting, setWaiting] = useState(false);
  const killing = useRef(false);
  const log = (kill && state.logs[kill.message.conversationId]) ?? [];
  const message = kill && log.find(({ id }) => id === kill.message.id);
  const next = kill && state.worker?.killedProcessId === kill.view.killedProcessId ? state.worker.next : undefined;
  const text = message?.text;
  const isFinal = message?.state === 'final';
  const killedAtMs = kill?.atMs;

  useEffect(() => {
    if (killedAtMs === undefined || next === undefined || text === undefined) return;
    setKill((now) => {
      if (now?.atMs !== killedAtMs || now.wentOnAfterMs !== undefined) return now;
      const looks = now.looks.at(-1)?.startsWith(text) ? now.looks : [...now.looks, text];
      if (looks.length < SURE_LOOKS && !isFinal) return { ...now, looks };
      return { ...now, looks, wentOnAfterMs: performance.now() - now.atMs };
    });
  }, [killedAtMs, next, text, isFinal]);

  const isWhole = isFinal && kill?.wentOnAfterMs !== undefined && answersBeside(log, kill.message.id) === 1;
  const show = useMemo<KillShow | undefined>(() => {
    if (!kill) return undefined;
    const goesOn = text?.startsWith(kill.message.text.trimEnd()) === true;
    return {
      view: { ...kill.view, ...(next ? { next } : {}) },
      wentOnAfterMs: kill.wentOnAfterMs,
      end: isWhole ? (goesOn ? 'once' : 'anew') : undefined,
    };
  }, [kill, next, isWhole, text]);

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
