import { createHash } from 'node:crypto';
import { z } from 'zod';
import { KIB_BYTES } from '../../../../shared/clock.ts';
import type { AnswerFile } from '../../platform.ts';
import type { RefusalClassifier } from '../../write-meaning.ts';
import { newReqId, type BotSocket } from './bot-socket.ts';

/** Maximum chunks of a file, and maximum bytes of a chunk before base64 (PLATFORM_FACTS.md wecom-connection). */
const MAX_CHUNKS = 100;
const MAX_CHUNK_BYTES = 512 * KIB_BYTES;
/** Default chunk size; a larger one would delay the answers that grow over the same connection. */
const DEFAULT_CHUNK_BYTES = 64 * KIB_BYTES;

const begun = z.object({ upload_id: z.string().min(1) });
const finished = z.object({ media_id: z.string().min(1) });

/**
 * Uploads a file to WeCom over the connection in chunks. It is invisible until its id is sent in a message; WeCom discards
 * an unsent file.
 * @returns its `media_id`, valid for three days; undefined if it could not be uploaded now
 */
export async function uploadFile(
  socket: Pick<BotSocket, 'ask'>,
  { name, text }: AnswerFile,
  writes: Pick<RefusalClassifier, 'judge'>,
): Promise<string | undefined> {
  const bytes = Buffer.from(text);
  const chunkBytes = Math.max(DEFAULT_CHUNK_BYTES, Math.ceil(bytes.length / MAX_CHUNKS));
  if (chunkBytes > MAX_CHUNK_BYTES) return undefined;
  const chunkCount = Math.max(1, Math.ceil(bytes.length / chunkBytes));
  const ask = async (step: 'init' | 'chunk' | 'finish', body: object) => {
    const cmd = `aibot_upload_media_${step}`;
    const answer = await socket.ask(cmd, newReqId(cmd), body);
    if (answer !== undefined && answer.errcode !== 0) writes.judge(cmd, answer.errcode);
    return answer?.errcode === 0 ? answer : undefined;
  };
  const md5 = createHash('md5').update(bytes).digest('hex');
  const start = await ask('init', {
    ...{ type: 'file', filename: name, md5 },
    ...{ total_size: bytes.length, total_chunks: chunkCount },
  });
  const upload = begun.safeParse(start?.body);
  if (!upload.success) return undefined;
  const { upload_id } = upload.data;
  for (let index = 0; index < chunkCount; index += 1) {
    const piece = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
    if (!(await ask('chunk', { upload_id, chunk_index: index, base64_data: piece.toString('base64') })))
      return undefined;
  }
  const end = await ask('finish', { upload_id });
  return finished.safeParse(end?.body).data?.media_id;
}
