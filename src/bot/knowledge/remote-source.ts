import { CodedError } from '../../shared/coded-error.ts';
import type { SourceFault } from './knowledge-report.ts';
import type { Found, Reader } from './knowledge.ts';

/** Why a source gave no results. */
export class SourceError extends CodedError<SourceFault> {}

/** A source that is queried over the network. */
export interface RemoteSource {
  readonly name: string;
  /** @returns the best hits first, only those that this reader may read @throws SourceError; the signal's reason */
  search(query: string, reader: Reader, limit: number, signal: AbortSignal): Promise<Found[]>;
}
