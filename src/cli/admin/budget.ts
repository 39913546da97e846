import {
  BUDGET_OWNERS,
  budgetSubject,
  canTopUp,
  isKnownPerson,
  readBudgetOwner,
  readLimits,
  readTopUp,
  type LimitUse,
  type TopUp,
} from '../../bot/admin/budget-acts.ts';
import { readPolicyFile } from '../../bot/app/read-policy-file.ts';
import type { BudgetLimit, SharedBudgets } from '../../bot/policy/budget.ts';
import { BudgetStore, type BudgetOwner } from '../../bot/turn/budgets/budget-store.ts';
import { wrongUse, type AdminArguments, type AdminContext, type AdminResult, type RunAdmin } from './admin-context.ts';

/** `admin budget show` and `admin budget top-up`. */
export const runBudget: RunAdmin = async (context, args) => {
  const owner = ownerOf(args);
  if (!owner) return wrongUse('Name one of --person, --department, --group and --model');
  const { redis, keyRing, nowMs, config } = context;
  const store = new BudgetStore({ redis, keyRing, nowMs, timeZone: config.timeZone });
  const isTopUp = args.subject === 'top-up';
  const change = isTopUp ? readTopUp(args.options['limit'], args.options['add']) : undefined;
  const result = await (isTopUp ? topUp(store, owner, change, context) : show(store, owner, context));
  // A refused name may be an account that was entered as a department or model.
  return result.isWrongUse === true
    ? result
    : { ...result, about: budgetSubject(keyRing, args.subject, owner, change) };
};

async function topUp(
  store: BudgetStore,
  owner: BudgetOwner,
  change: TopUp | undefined,
  context: AdminContext,
): Promise<AdminResult> {
  if (!change) return wrongUse('Name --limit and --add');
  const { limit, amount: added } = change;
  const isPerson = owner.of === 'person';
  const shared = isPerson ? {} : readPolicyFile(context.config);
  if (!canTopUp(shared, owner, limit)) return wrongUse(noLimit(shared, owner, limit));
  const isKnown = isPerson ? await isKnownPerson(context, store, owner) : undefined;
  const inAll = await store.topUp(owner, limit, added);
  const text = limit.endsWith('Day')
    ? `Added ${added} to ${limit}, ${inAll} in all until the end of its day\n`
    : `Added ${added} to ${limit}, ${inAll} in all until the end of its month\n`;
  return {
    data: { ...owner, limit, added, addedInAll: inAll, isKnown },
    text: isKnown === false ? `${text}No sign-in and no use of this account is stored. Check the account.\n` : text,
  };
}

function noLimit({ departments, groups, models }: SharedBudgets, { of, code }: BudgetOwner, limit: BudgetLimit) {
  const names = Object.keys({ department: departments, group: groups, model: models, person: {} }[of] ?? {});
  const set = names.length === 0 ? 'none' : names.join(', ');
  return `The policy file sets no ${limit} for ${code}. It sets limits for: ${set}`;
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
