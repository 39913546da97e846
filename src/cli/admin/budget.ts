import {
  BUDGET_OWNERS,
  budgetSubject,
  readBudgetOwner,
  readLimits,
  readTopUp,
  type LimitUse,
  type TopUp,
} from '../../bot/admin/budget-acts.ts';
import { readPolicyFile } from '../../bot/app/read-policy-file.ts';
import { BudgetStore, type BudgetOwner } from '../../bot/turn/budgets/budget-store.ts';
import type { AdminArguments, AdminContext, AdminResult, RunAdmin } from './admin-context.ts';

/** `admin budget show` and `admin budget top-up`. */
export const runBudget: RunAdmin = async (context, args) => {
  const owner = ownerOf(args);
  if (!owner) return wrongUse('Name one of --person, --department, --group and --model');
  const { redis, keyRing, nowMs, config } = context;
  const store = new BudgetStore({ redis, keyRing, nowMs, timeZone: config.timeZone });
  const isTopUp = args.subject === 'top-up';
  const change = isTopUp ? readTopUp(args.options['limit'], args.options['add']) : undefined;
  const result = await (isTopUp ? topUp(store, owner, change) : show(store, owner, context));
  return { ...result, about: budgetSubject(keyRing, args.subject, owner, change) };
};

async function topUp(store: BudgetStore, owner: BudgetOwner, change: TopUp | undefined): Promise<AdminResult> {
  if (!change) return wrongUse('Name --limit and --add');
  const { limit, amount: added } = change;
  const inAll = await store.topUp(owner, limit, added);
  return {
    data: { ...owner, limit, added, addedInAll: inAll },
    text: limit.endsWith('Day')
      ? `Added ${added} to ${limit}, ${inAll} in all until the end of its day\n`
      : `Added ${added} to ${limit}, ${inAll} in all until the end of its month\n`,
  };
}

async function show(store: BudgetStore, owner: BudgetOwner, { config }: AdminContext): Promise<AdminResult> {
  const limits = await readLimits(store, owner, owner.of === 'person' ? {} : readPolicyFile(config));
  return { data: { ...owner, limits }, text: limits.map(lineOf).join('') };
}

function lineOf({ name, used, added, limit }: LimitUse): string {
  const most = limit === undefined ? '' : `, limit ${limit}`;
  return `${name}: used ${used}, added ${added}${most}\n`;
}

function ownerOf({ options }: AdminArguments): BudgetOwner | undefined {
  const named = BUDGET_OWNERS.flatMap((of) => {
    const code = options[of];
    return typeof code === 'string' ? [readBudgetOwner(of, code)] : [];
  });
  return named.length === 1 ? named[0] : undefined;
}

function wrongUse(text: string): AdminResult {
  return { outcome: 'refused', isWrongUse: true, data: { error: text }, text: `${text}\n` };
}
