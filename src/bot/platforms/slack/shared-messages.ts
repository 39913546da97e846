import { textOfBlocks } from './read-blocks.ts';
import { readFiles, type WireFile } from './wire-event.ts';

/** A forwarded or shared message. */
export interface WireShared {
  author: string;
  /** With Slack's escapes. */
  text: string;
  files: WireFile[];
}

/** Maximum shared messages of one message; further ones are omitted. */
const MAX_SHARED_MESSAGES = 5;
const MAX_TEXT_CHARS = 20_000;
const MAX_AUTHOR_CHARS = 100;

type Fields = Record<string, unknown>;

/**
 * Reads the shared messages among a message's attachments (PLATFORM_FACTS.md slack-messages). Malformed ones are omitted,
 * because the text next to them is still a question.
 */
export function readShared(attachments: unknown): WireShared[] {
  if (!Array.isArray(attachments)) return [];
  const shared = (attachments.slice(0, MAX_SHARED_MESSAGES * 4) as unknown[])
    .filter(isShared)
    .slice(0, MAX_SHARED_MESSAGES);
  return shared.map((one) => ({
    author: textOf(one['author_name'], MAX_AUTHOR_CHARS),
    text:
      textOf(one['text'], MAX_TEXT_CHARS) ||
      textOfBlocks(one['message_blocks']) ||
      textOf(one['fallback'], MAX_TEXT_CHARS),
    files: readFiles(one['files']),
  }));
}

function isShared(one: unknown): one is Fields {
  if (typeof one !== 'object' || one === null) return false;
  const { is_share: isShare, is_msg_unfurl: isUnfurl, is_reply_unfurl: isReply } = one as Fields;
  return isShare === true || isUnfurl === true || isReply === true;
}

function textOf(value: unknown, maxChars: number): string {
  return typeof value === 'string' ? value.slice(0, maxChars) : '';
}
