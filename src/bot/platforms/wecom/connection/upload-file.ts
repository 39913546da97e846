import { createHash } from 'node:crypto';
import { z } from 'zod';
import { KIB_BYTES } from '../../../../shared/clock.ts';
import type { AnswerFile } from '../../platform.ts';
import type { WriteJudge } from '../../write-meaning.ts';
import { newReqId, type BotSocket } from './bot-socket.ts';

/** The most pieces of a file, and the most bytes of one before base64 (PLATFORM_FACTS.md wecom-connection). */
const MOST_PIECES = 100;
const MOST_PIECE_BYTES = 512 * KIB_BYTES;
/** Answers grow over the same connection meanwhile: a larger piece would hold them up. */
const USUAL_PIECE_BYTES = 64 * KIB_BYTES;

const begun = z.object({ upload_id: z.string().min(1) });
const finished = z.object({ media_id: z.string().min(1) });

/**
 * Brings a file to WeCom over the connection, piece by piece. Nobody sees it before its id is sent in a message; what is never sent
 * WeCom forgets. @returns its `media_id`, good for three days; undefined where it could not be brought now
 */
export async function uploadFile(
  socket: Pick<BotSocket, 'ask'>,
  { name, text }: AnswerFile,
  writes: Pick<WriteJudge, 'judge'>,
): Promise<string | undefined> {
  const bytes = Buffer.from(text);
  const pieceBytes = Math.max(USUAL_PIECE_BYTES, Math.ceil(bytes.length / MOST_PIECES));
  if (pieceBytes > MOST_PIECE_BYTES) return undefined;
  const pieceCount = Math.max(1, Math.ceil(bytes.length / pieceBytes));
  const ask = async (step: 'init' | 'chunk' | 'finish', body: object) => {
    const cmd = `aibot_upload_media_${step}`;
    const answer = await socket.ask(cmd, newReqId(cmd), body);
    if (answer !== undefined && answer.errcode !== 0) writes.judge(cmd, answer.errcode);
    return answer?.errcode === 0 ? answer : undefined;
  };
  const md5 = createHash('md5').update(bytes).digest('hex');
  const start = await ask('init', {
    ...{ type: 'file', filename: name, md5 },
    ...{ total_size: bytes.length, total_chunks: pieceCount },
  });
  const upload = begun.safeParse(start?.body);
  if (!upload.success) return undefined;
  const { upload_id } = upload.data;
  for (let index = 0; index < pieceCount; index += 1) {
    const piece = bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes);
    if (!(await ask('chunk', { upload_id, chunk_index: index, base64_data: piece.toString('base64') })))
      return undefined;
  }
  const end = await ask('finish', { upload_id });
  return finished.safeParse(end?.body).data?.media_id;
}
