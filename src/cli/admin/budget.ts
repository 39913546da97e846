import { readFileSync } from 'node:fs';
import { fileInUse } from '../../bot/config/config-file.ts';
import type { Config } from '../../bot/config/config.ts';
import { BUDGET_LIMITS, type Budget, type BudgetLimit } from '../../bot/policy/budget.ts';
import { parsePolicyFile } from '../../bot/policy/policy-file.ts';
import { accountMark } from '../../bot/audit/append-entry.ts';
import { BudgetStore, type BudgetOwner } from '../../bot/turn/budgets/budget-store.ts';
import type { AdminArguments, AdminContext, AdminResult, RunAdmin } from './admin-context.ts';

const OWNERS = ['person', 'department', 'group', 'model'] as const;

/** `admin budget show` and `admin budget top-up`. */
export const runBudget: RunAdmin = async (context, args) => {
  const owner = ownerOf(args);
  if (!owner) return refused('Name one of --person, --department, --group and --model');
  const { redis, keyRing, nowMs, config } = context;
  const store = new BudgetStore({ redis, keyRing, nowMs, timeZone: config.timeZone });
  const isTopUp = args.subject === 'top-up';
  const result = await (isTopUp ? topUp(store, owner, args) : show(store, owner, context));
  // The record contains people as keyed hashes only.
  const whose = owner.of === 'person' ? accountMark(keyRing, owner.code) : owner.code;
  const change = isTopUp ? ` ${String(args.options['limit'])} +${String(args.options['add'])}` : '';
  return { ...result, about: `${args.subject} ${owner.of}:${whose}${change}` };
};

async function topUp(store: BudgetStore, owner: BudgetOwner, { options }: AdminArguments): Promise<AdminResult> {
  const limit = BUDGET_LIMITS.find((name) => name === options['limit']);
  const added = Number(options['add'] ?? 0);
  if (limit === undefined || added === 0) return refused('Name --limit and --add');
  const inAll = await store.topUp(owner, limit, added);
  return {
    data: { ...owner, limit, added, addedInAll: inAll },
    text: limit.endsWith('Day')
      ? `Added ${added} to ${limit}, ${inAll} in all until the end of its day\n`
      : `Added ${added} to ${limit}, ${inAll} in all until the end of its month\n`,
  };
}

/** Rules set the limits of a person, so only the use is known here. */
async function show(store: BudgetStore, owner: BudgetOwner, { config }: AdminContext): Promise<AdminResult> {
  const usage = await store.usage(owner);
  const limits = limitsOf(config, owner) ?? {};
  const rows = BUDGET_LIMITS.map((name) => ({ name, ...usage[name], limit: limits[name] }));
  return { data: { ...owner, limits: rows }, text: rows.map(lineOf).join('') };
}

function lineOf(row: { name: BudgetLimit; used: number; added: number; limit: number | undefined }): string {
  const limit = row.limit === undefined ? '' : `, limit ${row.limit}`;
  return `${row.name}: used ${row.used}, added ${row.added}${limit}\n`;
}

function limitsOf({ policyFile }: Config, { of, code }: BudgetOwner): Budget | undefined {
  if (of === 'person') return undefined;
  const { departments, groups, models } = parsePolicyFile(readFileSync(fileInUse(policyFile), 'utf8'), undefined);
  if (of === 'group') return groups?.[code.slice(code.indexOf(':') + 1)] ?? groups?.['*'];
  return (of === 'department' ? departments : models)?.[code];
}

function ownerOf({ options }: AdminArguments): BudgetOwner | undefined {
  const named = OWNERS.flatMap((of) => {
    const code = options[of];
    return typeof code === 'string' ? [{ of, code }] : [];
  });
  return named.length === 1 ? named[0] : undefined;
}

function refused(text: string): AdminResult {
  return { outcome: 'refused', data: { error: text }, text: `${text}\n` };
}
