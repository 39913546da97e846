import { textOfBlocks } from './read-blocks.ts';
import { readFiles, type WireFile } from './wire-event.ts';

/** A message that somebody forwarded, or shared, with theirs. */
export interface WireShared {
  author: string;
  /** As Slack writes it, with its escapes. */
  text: string;
  files: WireFile[];
}

/** Of one message; more are left out. */
const MOST_SHARED = 5;
const MOST_TEXT_CHARS = 20_000;
const MOST_AUTHOR_CHARS = 100;

type Fields = Record<string, unknown>;

/**
 * What of a message's attachments is somebody's message (PLATFORM_FACTS.md slack-messages). Whatever is not as it should be is left out:
 * what was said beside it is a question all the same.
 */
export function readShared(attachments: unknown): WireShared[] {
  if (!Array.isArray(attachments)) return [];
  const shared = (attachments.slice(0, MOST_SHARED * 4) as unknown[]).filter(isShared).slice(0, MOST_SHARED);
  return shared.map((one) => ({
    author: textOf(one['author_name'], MOST_AUTHOR_CHARS),
    text:
      textOf(one['text'], MOST_TEXT_CHARS) ||
      textOfBlocks(one['message_blocks']) ||
      textOf(one['fallback'], MOST_TEXT_CHARS),
    files: readFiles(one['files']) ?? [],
  }));
}

function isShared(one: unknown): one is Fields {
  if (typeof one !== 'object' || one === null) return false;
  const { is_share: isShare, is_msg_unfurl: isUnfurl, is_reply_unfurl: isReply } = one as Fields;
  return isShare === true || isUnfurl === true || isReply === true;
}

function textOf(value: unknown, mostChars: number): string {
  return typeof value === 'string' ? value.slice(0, mostChars) : '';
}
