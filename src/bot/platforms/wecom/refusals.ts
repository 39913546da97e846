import type { RefusalTable } from '../write-meaning.ts';
import { STREAM_OVER, UNKNOWN_REQUEST } from './connection/codes.ts';

/** The app has no permission for this kind of call. */
export const FORBIDDEN = 48_002;
/** WeCom's code for a rate limit. */
export const RATE_LIMITED = 45_009;

/** Meanings of WeCom's error codes for a write (PLATFORM_FACTS.md wecom-errors). */
export const WECOM_MEANINGS: RefusalTable = {
  every: {
    'rate-limited': [-1, RATE_LIMITED, 45_033],
    // The app's secret, ids or permissions, or its trusted addresses are at fault.
    unauthorised: [40_001, 40_013, 40_014, 40_056, 41_001, 42_001, FORBIDDEN, 60_011, 60_020],
    snapshot: [40_008, 40_058, 44_004, 45_002],
    method: [40_007, 600_039, UNKNOWN_REQUEST, STREAM_OVER],
    conversation: [40_003, 60_111, 81_013, 82_001, 86_008, 93_001, 93_006, 93_008],
  },
};
