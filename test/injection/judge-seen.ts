import { faultsIn, LIVE_MARK, OWN_MARK } from '../bot/platforms/markdown/hostile-text.ts';
import type { PlatformHere, Seen } from '../support/both-platforms.ts';

/** What calls people, hides where a link leads, loads something or disguises, in anything that people could see. */
export function harmIn(platform: PlatformHere, { snapshots, apart }: Seen): string[] {
  return [...new Set([...snapshots, ...apart])].flatMap((shown) => [
    ...(LIVE_MARK.test(shown) ? [`a live mark: ${shown}`] : []),
    ...(OWN_MARK[platform].test(shown) ? [`a mark of ${platform}: ${shown}`] : []),
    ...faultsIn(shown),
  ]);
}
