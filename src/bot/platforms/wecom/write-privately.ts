import { sha256Hex } from '../../../shared/crypto/ids.ts';
import { anyCutPosition, cutText } from '../markdown/cut-text.ts';
import type { PartOfText, PostResult } from '../platform.ts';
import type { PrivateRate } from './private-rate.ts';
import { safePlainText } from './dialect.ts';
import type { PlainUserIds } from './plain-user-id.ts';
import type { WecomAgent } from './platform-api.ts';
import { BY_APP, toPostResult, type PostOptions } from './post-messages.ts';

interface WriteOptions extends PostOptions {
  agent: WecomAgent;
  userIds: PlainUserIds;
  privateRate: PrivateRate;
}

interface PrivateMessage {
  userId: string;
  text: string;
  partOf: PartOfText | undefined;
}

const MAX_APP_TEXT_BYTES = 2_048;
/** Minimum length to which a repeated message is shortened. */
const MIN_CUT_CHARS = 64;
/** WeCom drops an identical text to the same person within this time, so that repeating an uncertain post is harmless. */
const DUPLICATE_CHECK_SEC = 1_800;
const USER_ID = /^[A-Za-z0-9][\w.@-]{0,63}$/;

/** Splits a text into app messages, no two of them equal, because WeCom would drop the second. */
export function splitPrivately(text: string): string[] {
  const [pieces, seen] = [[] as string[], new Set<string>()];
  let rest = safePlainText(text);
  do {
    let piece = firstPiece(rest, MAX_APP_TEXT_BYTES);
    while (seen.has(piece) && piece.length > MIN_CUT_CHARS) piece = firstPiece(rest, Buffer.byteLength(piece) - 1);
    // A long text that repeats itself may have no other piece that ends at a boundary.
    for (let bytes = MAX_APP_TEXT_BYTES; seen.has(piece) && bytes > MIN_CUT_CHARS; bytes -= 1)
      piece = rest.slice(0, anyCutPosition(rest.slice(0, MAX_APP_TEXT_BYTES), bytes));
    pieces.push(piece);
    seen.add(piece);
    rest = rest.slice(piece.length);
  } while (rest !== '');
  return pieces;
}

function firstPiece(text: string, maxBytes: number): string {
  // Reads only as much as the cut depends on.
  const [piece = ''] = cutText(text.slice(0, 2 * MAX_APP_TEXT_BYTES), maxBytes);
  return piece;
}

/**
 * Sends a text to one person as the self-built app. A text of several messages is sent completely or not at all, and stops
 * at the first message that does not arrive.
 */
export async function writePrivately(
  { userId, text, partOf }: PrivateMessage,
  options: WriteOptions,
): Promise<PostResult> {
  const { agent, api, privateRate } = options;
  let plainId: string | undefined;
  try {
    plainId = await options.userIds.find(userId);
  } catch {
    // The person's id could not be resolved, so nothing was posted.
    return 'busy';
  }
  // `@all` and joined ids would reach other people; neither is an id.
  if (plainId === undefined || !USER_ID.test(plainId)) return 'refused';
  const messages = splitPrivately(text);
  // WeCom drops messages above its rate limit without an error.
  const person = sha256Hex(`${agent.corpId}|${agent.agentId}|${plainId.toLowerCase()}`).slice(0, 32);
  if (!(await privateRate.tryAcquire(person, messages.length, partOf))) return 'busy';
  for (const content of messages) {
    const post = api.call({
      method: 'POST',
      path: '/cgi-bin/message/send',
      isPost: true,
      json: {
        touser: plainId,
        msgtype: 'text',
        agentid: Number(agent.agentId),
        text: { content },
        enable_duplicate_check: 1,
        duplicate_check_interval: DUPLICATE_CHECK_SEC,
      },
    });
    const result = await toPostResult(post, options, BY_APP);
    if (result !== 'sent') return result;
  }
  return 'sent';
}
