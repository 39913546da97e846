import type { ReplyEnd, ReplyPlace } from './reply-places.ts';
import { wordsAlone } from './words-alone.ts';

/** One answer while it is shown over this connection. */
export interface Shown {
  id: string;
  place: ReplyPlace;
  /** Opening time of its place, on the monotonic clock. */
  openedAtMs: number;
  /** Content that WeCom has taken over this connection; undefined before the first frame. */
  content: string | undefined;
  /** Whether a frame was sent over this connection. */
  hasLeft: boolean;
  isDirty: boolean;
  isServed: boolean;
  lookedAtMs: number;
  /** Time before which nothing is sent. */
  notBeforeMs: number;
  failures: number;
  /** When WeCom first refused its final text by the current delivery method, on the monotonic clock. */
  refusedSinceMs: number | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Set once WeCom has the final text and only the record of it remains. */
  end: ReplyEnd | undefined;
  isOver: boolean;
  /** The card with its buttons, sent after it. */
  card: object | undefined;
  /** Media id of an uploaded file that is not visible yet. */
  mediaId: string | undefined;
}

/** Whether it is a later message or file below an answer, which has no record of its own. */
export function isLater({ text, file }: ReplyPlace): boolean {
  return text !== undefined || file !== undefined;
}

export function markdown(content: string): object {
  return { msgtype: 'markdown', markdown: { content: wordsAlone(content) } };
}
