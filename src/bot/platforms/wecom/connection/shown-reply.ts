import type { ReplyEnd, ReplyPlace } from './reply-places.ts';
import { wordsAlone } from './words-alone.ts';

/** One answer while it is shown over this connection. */
export interface Shown {
  id: string;
  place: ReplyPlace;
  /** When its place was opened, by the monotonic clock. */
  openedAtMs: number;
  /** What WeCom has taken over this connection; undefined before the first frame. */
  content: string | undefined;
  /** A frame has left over this connection. */
  hasLeft: boolean;
  isDirty: boolean;
  isServed: boolean;
  lookedAtMs: number;
  /** Nothing leaves before. */
  notBeforeMs: number;
  failures: number;
  /** When WeCom first refused its last words by the present way, by the monotonic clock. */
  refusedSinceMs: number | undefined;
  timer: NodeJS.Timeout | undefined;
  /** WeCom has its last word; what is left is to note that. */
  end: ReplyEnd | undefined;
  isOver: boolean;
  /** What may be pressed at it, as a card that follows it. */
  card: object | undefined;
  /** Of a file that WeCom has, and nobody sees yet. */
  mediaId: string | undefined;
}

/** What stands below an answer, and is not looked up in a record. */
export function isLater({ text, file }: ReplyPlace): boolean {
  return text !== undefined || file !== undefined;
}

export function markdown(content: string): object {
  return { msgtype: 'markdown', markdown: { content: wordsAlone(content) } };
}
