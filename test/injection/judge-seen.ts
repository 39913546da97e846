import { faultsIn, LIVE_MARK, OWN_MARK } from '../bot/platforms/markdown/hostile-text.ts';
import type { PlatformHere, Seen } from '../support/both-platforms.ts';

/** Broadcast mentions, hidden link targets, loaded resources and disguised text in the visible messages. */
export function harmIn(platform: PlatformHere, { snapshots, apart }: Seen): string[] {
  return [...new Set([...snapshots, ...apart])].flatMap((shown) => [
    ...(LIVE_MARK.test(shown) ? [`a live mark: ${shown}`] : []),
    ...(OWN_MARK[platform].test(shown) ? [`a mark of ${platform}: ${shown}`] : []),
    ...faultsIn(shown),
  ]);
}
