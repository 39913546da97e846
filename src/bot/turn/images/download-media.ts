import { setTimeout as sleep } from 'node:timers/promises';
import { abortAfter } from '../../../shared/abort-after.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { PlatformError } from '../../platforms/platform-error.ts';
import type { FetchedMedia, Platform } from '../../platforms/platform.ts';

/** Why a file was not downloaded, by the code of the platform's error; any other code means `gone`. */
const MEDIA_FAULTS: ReadonlyMap<string, MediaFault> = new Map([
  ['media_too_large', 'too_large'],
  ['media_elsewhere', 'elsewhere'],
  ['unreachable', 'unreachable'],
]);

/** `gone`: expired or refused. `elsewhere`: stored outside the platform. All but `too_large` may pass. */
export type MediaFault = 'too_large' | 'elsewhere' | 'unreachable' | 'gone';

export function mediaFaultOf({ code }: PlatformError): MediaFault {
  return MEDIA_FAULTS.get(code) ?? 'gone';
}

const DOWNLOAD_LIMIT_MS = 20 * SECOND_MS;
const FIRST_PAUSE_MS = SECOND_MS / 2;

/**
 * Downloads a file that a person sent, again with growing pauses while the platform is unreachable, for at most 20 s.
 * @throws PlatformError, `unreachable` if the platform delivered nothing in this time; the reason of `signal`
 */
export async function downloadMedia(
  platform: Pick<Platform, 'fetchMedia'>,
  mediaRef: string,
  maxBytes: number,
  signal: AbortSignal,
  limitMs = DOWNLOAD_LIMIT_MS,
): Promise<FetchedMedia> {
  const limited = abortAfter(limitMs, signal);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      return await platform.fetchMedia(mediaRef, maxBytes, limited);
    } catch (error) {
      signal.throwIfAborted();
      if (limited.aborted) throw new PlatformError('unreachable', 'A file could not be downloaded in time');
      if (!(error instanceof PlatformError) || error.code !== 'unreachable') throw error;
    }
    await sleep(pauseMs, undefined, { signal: limited }).catch(() => undefined);
    signal.throwIfAborted();
  }
}
