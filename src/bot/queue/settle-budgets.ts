import { loadLibrary, loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { BUDGET_SUMS } from '../domain/budget-sums.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { BudgetCharge } from '../domain/turn.ts';

/** `settleBudget` for scripts. */
export const SETTLE_BUDGET = loadLibrary(import.meta.url, './scripts/library/settle-budget.lua');

const settleScript = loadScript(import.meta.url, './scripts/settle-budget.lua', {
  libraries: [BUDGET_SUMS, SETTLE_BUDGET],
  keys: ['used'],
  args: ['turnId', 'budget'],
});

/** Replaces a turn's reservations by these charges, outside a commit. Safe to repeat. */
export async function settleBudgets(
  redis: RedisClient,
  turnId: DeliveryId,
  charges: readonly BudgetCharge[],
): Promise<void> {
  await Promise.all(
    charges.map((charge) => settleScript.run(redis, { used: charge.used }, { turnId, budget: JSON.stringify(charge) })),
  );
}
