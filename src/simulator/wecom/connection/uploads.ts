import { createHash } from 'node:crypto';
import { KIB_BYTES } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { Fields } from '../fields.ts';
import { apiFault, apiOk, ERRCODE, type ApiResult } from '../api-result.ts';

/** A file that the bot uploaded in chunks. */
export interface UploadedFile {
  /** Download address for people. */
  key: string;
  type: string;
  name: string;
  bytes: Buffer;
}

interface Upload {
  type: string;
  name: string;
  pieceCount: number;
  md5: string;
  /** Chunks by the bot's index, which starts at 0 or 1. */
  pieces: Map<number, Buffer>;
}

const MAX_PIECES = 100;
const MAX_PIECE_BYTES = 512 * KIB_BYTES;
/** Maximum files kept: they are shown immediately. */
const MAX_KEPT = 100;

/** The bot's files: announced, uploaded in chunks, and then referred to by media_id. Kept in memory. */
export class Uploads {
  readonly #nowMs: NowMs;
  readonly #uploads = new Map<string, Upload>();
  readonly #files = new Map<string, UploadedFile>();

  constructor(nowMs: NowMs) {
    this.#nowMs = nowMs;
  }

  find(mediaId: unknown): UploadedFile | undefined {
    return typeof mediaId === 'string' ? this.#files.get(mediaId) : undefined;
  }

  /** A file for people. */
  findByKey(key: string): UploadedFile | undefined {
    return [...this.#files.values()].find((file) => file.key === key);
  }

  /** aibot_upload_media_init */
  begin({ type, filename, total_chunks: pieceCount, md5 }: Fields): ApiResult {
    const isKnown = typeof type === 'string' && /^(file|image|voice|video)$/.test(type);
    if (!isKnown || typeof filename !== 'string' || typeof pieceCount !== 'number' || typeof md5 !== 'string')
      return bad('an upload names type, filename, total_chunks and md5');
    if (pieceCount < 1 || pieceCount > MAX_PIECES) return bad(`a file has 1 to ${MAX_PIECES} chunks`);
    const id = randomToken(16);
    keepFew(this.#uploads).set(id, { type, name: filename, pieceCount, md5, pieces: new Map() });
    return apiOk({ body: { upload_id: id } });
  }

  /** aibot_upload_media_chunk */
  add({ upload_id: id, chunk_index: index, base64_data: data }: Fields): ApiResult {
    const upload = this.#uploads.get(String(id));
    if (!upload || typeof index !== 'number' || typeof data !== 'string') return bad('no such upload');
    const piece = Buffer.from(data, 'base64');
    if (piece.length > MAX_PIECE_BYTES || upload.pieces.size >= upload.pieceCount) return bad('the chunk is too large');
    upload.pieces.set(index, piece);
    return apiOk();
  }

  /** aibot_upload_media_finish */
  finish({ upload_id: id }: Fields): ApiResult {
    const upload = this.#uploads.get(String(id));
    if (!upload) return bad('no such upload');
    this.#uploads.delete(String(id));
    const inOrder = [...upload.pieces].sort(([left], [right]) => left - right).map(([, piece]) => piece);
    const bytes = Buffer.concat(inOrder);
    const isWhole =
      inOrder.length === upload.pieceCount && createHash('md5').update(bytes).digest('hex') === upload.md5;
    if (!isWhole) return bad('chunks are missing, or the md5 is wrong');
    const mediaId = randomToken(24);
    keepFew(this.#files).set(mediaId, { key: randomToken(16), type: upload.type, name: upload.name, bytes });
    const createdAt = Math.floor(this.#nowMs() / SECOND_MS);
    return apiOk({ body: { type: upload.type, media_id: mediaId, created_at: createdAt } });
  }
}

function keepFew<Value>(map: Map<string, Value>): Map<string, Value> {
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size >= MAX_KEPT) map.delete(oldest);
  return map;
}

function bad(reason: string): ApiResult {
  return apiFault(ERRCODE.badParameter, reason);
}
