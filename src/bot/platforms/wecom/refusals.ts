import type { MeaningTable } from '../write-meaning.ts';
import { STREAM_OVER, UNKNOWN_REQUEST } from './connection/codes.ts';

/** The app has no right to this one kind of call. */
export const FORBIDDEN = 48_002;
/** WeCom's word for too many calls. */
export const RATE_LIMITED = 45_009;

/** What WeCom's error codes mean for a write (PLATFORM_FACTS.md wecom-errors). */
export const WECOM_MEANINGS: MeaningTable = {
  every: {
    'rate-limited': [-1, RATE_LIMITED, 45_033],
    // The app's secret, ids or rights, or the addresses that it trusts.
    unauthorised: [40_001, 40_013, 40_014, 40_056, 41_001, 42_001, FORBIDDEN, 60_011, 60_020],
    snapshot: [40_008, 40_058, 44_004, 45_002],
    way: [40_007, 600_039, UNKNOWN_REQUEST, STREAM_OVER],
    conversation: [40_003, 60_111, 81_013, 82_001, 86_008, 93_001, 93_006, 93_008],
  },
};
