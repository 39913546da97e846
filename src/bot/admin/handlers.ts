import type { SafeHtml } from '../../shared/text/html.ts';
import { DAY_MS, type NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { accountMark } from '../audit/append-entry.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { BUILD } from '../../shared/version.ts';
import { asDeliveryId, MAX_ACCOUNT_CHARS } from '../domain/ids.ts';
import { modelOf, readPauseTarget } from '../domain/pause.ts';
import { personKey } from '../identity/account.ts';
import type { Identity } from '../identity/identity.ts';
import { peopleOfAccounts } from '../identity/links/people-of-account.ts';
import { readProcesses } from '../queue/process-list.ts';
import { countDeadLetters, readDeadLetters, replayDeadLetter } from '../queue/dead-letters.ts';
import { readTraces } from '../queue/read-trace.ts';
import { createCountWaiting } from '../queue/waiting-questions.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import type { SharedBudgets } from '../policy/budget.ts';
import type { BudgetStore } from '../turn/budgets/budget-store.ts';
import { UNANSWERED_LIFE_MS } from '../turn/conversation/unanswered-store.ts';
import { readAllUsage } from '../turn/conversation/usage-store.ts';
import { beginPause, endPause, readPauses } from '../turn/pauses/pause-store.ts';
import {
  budgetSubject,
  canTopUp,
  isKnownPerson,
  isLimited,
  readBudgetOwner,
  readLimits,
  readTopUp,
} from './budget-acts.ts';
import { budgetsBody, type TypedBudget } from './pages/budgets.ts';
import { deadLettersBody } from './pages/dead-letters.ts';
import type { AdminPath } from './pages/layout.ts';
import { overviewBody } from './pages/overview.ts';
import { pausesBody, type TypedPause } from './pages/pauses.ts';
import { peopleBody } from './pages/people.ts';
import { REFERENCE, traceBody } from './pages/trace.ts';
import { unansweredBody } from './pages/unanswered.ts';
import { usageBody, type UsageView } from './pages/usage.ts';
import type { AdminAct, RecordAct } from './record-act.ts';
import { readUnansweredQuestions, sumTopics, topicsCsv, type Unanswered } from './unanswered.ts';
import { isDay, isReversed, sumUsage, USAGE_GROUPS, usageCsv } from './usage-sums.ts';
import { fieldOf, type Handle, type Reply, type Visit } from './visit.ts';

const WHOLE_ID = /^[0-9a-f]{40}$/i;

export interface HandlerParts {
  redis: RedisClient;
  keyRing: KeyRing;
  identity: Pick<Identity, 'accountOf' | 'unlink'>;
  wakeQueue: Pick<WakeQueue, 'jobCounts'>;
  budgets: BudgetStore;
  /** The budgets of the policy file. @throws ConfigFileError */
  readSharedBudgets(): SharedBudgets;
  /** The models that exist, if none of them has this name. Undefined also if they cannot be listed now. */
  otherModels(name: string): Promise<readonly string[] | undefined>;
  /** UNANSWERED_TEXT. */
  showsUnansweredText: boolean;
  timeZone: string;
  nowMs: NowMs;
  recordAct: RecordAct;
}

/** The pages and acts by method and path. They call the same functions as the subcommands of `admin`. */
export function createHandlers(parts: HandlerParts): ReadonlyMap<string, Handle> {
  const countWaiting = createCountWaiting(parts.redis);
  return new Map<string, Handle>([
    ['GET /admin', (visit) => showOverview(parts, countWaiting, visit)],
    ['GET /admin/trace', (visit) => showTrace(parts, visit)],
    ['GET /admin/dead-letters', (visit) => showDeadLetters(parts, visit)],
    ['POST /admin/dead-letters/replay', (visit) => replay(parts, visit)],
    ['GET /admin/pauses', (visit) => listPauses(parts, visit)],
    ['POST /admin/pauses', (visit) => pause(parts, visit)],
    ['POST /admin/pauses/resume', (visit) => resume(parts, visit)],
    ['GET /admin/budgets', (visit) => openBudgets(parts, visit)],
    ['POST /admin/budgets', (visit) => searchBudget(parts, visit)],
    ['POST /admin/budgets/top-up', (visit) => topUp(parts, visit)],
    ['GET /admin/usage', (visit) => showUsage(parts, visit)],
    ['GET /admin/usage.csv', (visit) => downloadUsage(parts, visit)],
    ['GET /admin/unanswered', (visit) => showUnanswered(parts, visit)],
    ['GET /admin/unanswered.csv', (visit) => downloadUnanswered(parts, visit)],
    ['GET /admin/people', async (visit) => showPeople(parts, visit, '')],
    ['POST /admin/people', (visit) => searchPeople(parts, visit)],
    ['POST /admin/people/revoke', (visit) => revoke(parts, visit)],
  ]);
}

function pageOf(path: AdminPath, body: SafeHtml): Reply {
  return { kind: 'page', path, body };
}

/** The result of the act that was redirected here; empty without one. */
function resultOf({ query }: Visit): string {
  return query.get('result') ?? '';
}

async function record(parts: HandlerParts, visit: Visit, act: Omit<AdminAct, 'by'>): Promise<void> {
  await parts.recordAct({ ...act, by: accountMark(parts.keyRing, visit.account) });
}

async function showOverview(
  { redis, wakeQueue, nowMs }: HandlerParts,
  countWaiting: ReturnType<typeof createCountWaiting>,
  visit: Visit,
): Promise<Reply> {
  const [questions, processes, deadLetters, jobs, server] = await Promise.all([
    countWaiting(),
    readProcesses(redis),
    countDeadLetters(redis, nowMs() - DAY_MS),
    wakeQueue.jobCounts(),
    redis.info('server'),
  ]);
  const overview = {
    questions,
    processes,
    nowMs: nowMs(),
    deadLetters,
    jobs,
    versions: {
      parley: BUILD.version,
      node: BUILD.node,
      redis: /^redis_version:([\w.]{1,20})\s*$/m.exec(server)?.[1] ?? '',
    },
  };
  return pageOf('/admin', overviewBody(overview, visit.language));
}

async function showTrace(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const reference = (visit.query.get('reference') ?? '').trim().slice(0, 40);
  const isReference = REFERENCE.test(reference);
  const traces = isReference ? await readTraces(parts.redis, reference) : [];
  if (isReference) {
    const outcome = traces.length === 0 ? 'not-found' : 'done';
    await record(parts, visit, { act: 'trace', subject: reference, outcome });
  }
  const { language } = visit;
  return pageOf('/admin/trace', traceBody({ language, timeZone: parts.timeZone, reference, traces }));
}

async function showDeadLetters(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const letters = await readDeadLetters(parts.redis);
  await record(parts, visit, { act: 'dead-letters', outcome: 'done' });
  const { timeZone } = parts;
  const view = { frame: visit, timeZone, letters, result: resultOf(visit) };
  return pageOf('/admin/dead-letters', deadLettersBody(view));
}

async function replay(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const id = fieldOf(visit.form, 'id').toLowerCase();
  const result = WHOLE_ID.test(id) ? await replayDeadLetter(parts, asDeliveryId(id)) : 'unknown';
  const outcome = result === 'replayed' ? 'done' : result === 'unknown' ? 'not-found' : 'refused';
  const subject = WHOLE_ID.test(id) ? id : undefined;
  await record(parts, visit, { act: 'replay', subject, outcome });
  return { kind: 'redirect', to: `/admin/dead-letters?result=${result}` };
}

async function listPauses(parts: HandlerParts, visit: Visit): Promise<Reply> {
  await record(parts, visit, { act: 'pauses', outcome: 'done' });
  return showPauses(parts, visit);
}

async function showPauses(parts: HandlerParts, visit: Visit, refused?: TypedPause): Promise<Reply> {
  const { redis, timeZone } = parts;
  const view = { frame: visit, timeZone, pauses: await readPauses(redis), result: resultOf(visit), refused };
  return pageOf('/admin/pauses', pausesBody(view));
}

async function pause(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const [kind, name, message] = [
    fieldOf(visit.form, 'kind'),
    fieldOf(visit.form, 'name'),
    fieldOf(visit.form, 'message'),
  ];
  const typed = readPauseTarget(kind + name);
  const model = typed && modelOf(typed);
  const models = model === undefined ? undefined : await parts.otherModels(model);
  // An unknown name is not recorded.
  const target = models ? undefined : typed;
  if (target !== undefined) await beginPause(parts.redis, { target, message, sinceMs: parts.nowMs() });
  await record(parts, visit, { act: 'pause', subject: target, outcome: target === undefined ? 'refused' : 'done' });
  if (target === undefined) return showPauses(parts, visit, { kind, name, message, models });
  return { kind: 'redirect', to: '/admin/pauses?result=paused' };
}

async function resume(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const target = readPauseTarget(fieldOf(visit.form, 'target'));
  const wasPaused = target !== undefined && (await endPause(parts.redis, target));
  await record(parts, visit, { act: 'resume', subject: target, outcome: wasPaused ? 'done' : 'not-found' });
  return { kind: 'redirect', to: `/admin/pauses?result=${wasPaused ? 'resumed' : 'not-paused'}` };
}

/** The address names any owner except a person, whose account must not appear in it. */
async function openBudgets(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const of = visit.query.get('of') ?? '';
  const name = of === 'person' ? '' : (visit.query.get('name') ?? '');
  return showBudget(parts, visit, { typed: { of, name, limit: '', amount: '' } });
}

async function searchBudget(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const typed = typedBudget(visit);
  const refused = readBudgetOwner(typed.of, typed.name) ? undefined : 'owner';
  return showBudget(parts, visit, { typed, refused });
}

function typedBudget({ form }: Visit): TypedBudget {
  const [of, name] = [fieldOf(form, 'of'), fieldOf(form, 'name')];
  return { of, name, limit: fieldOf(form, 'limit'), amount: fieldOf(form, 'amount') };
}

interface BudgetForms {
  typed: TypedBudget;
  refused?: 'owner' | 'top-up' | 'limit';
}

async function showBudget(parts: HandlerParts, visit: Visit, { typed, refused }: BudgetForms): Promise<Reply> {
  const owner = readBudgetOwner(typed.of, typed.name);
  const shared = sharedBudgets(parts);
  const budget = owner && { owner, limits: await readLimits(parts.budgets, owner, shared ?? {}) };
  if (budget) {
    // An unknown name is not recorded: it may be an account that was entered as a department or model.
    const isKnown = !shared || budget.owner.of === 'person' || isLimited(budget.limits);
    const subject = isKnown ? budgetSubject(parts.keyRing, 'show', budget.owner) : undefined;
    await record(parts, visit, { act: 'budget', subject, outcome: isKnown ? 'done' : 'not-found' });
  }
  const view = { frame: visit, typed, budget, shared, refused, result: resultOf(visit) };
  return pageOf('/admin/budgets', budgetsBody(view));
}

/** @returns undefined if the policy file cannot be read, which must not hide the use */
function sharedBudgets({ readSharedBudgets }: HandlerParts): SharedBudgets | undefined {
  try {
    return readSharedBudgets();
  } catch {
    return undefined;
  }
}

async function topUp(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const typed = typedBudget(visit);
  const owner = readBudgetOwner(typed.of, typed.name);
  const change = readTopUp(typed.limit, typed.amount);
  const shared = sharedBudgets(parts);
  if (!owner || !change || (shared && !canTopUp(shared, owner, change.limit))) {
    // Without the name, which may be an account that was entered as a department or model.
    await record(parts, visit, { act: 'budget', outcome: 'refused' });
    return showBudget(parts, visit, { typed, refused: !owner ? 'owner' : !change ? 'top-up' : 'limit' });
  }
  const isPerson = owner.of === 'person';
  const isKnown = isPerson && (await isKnownPerson(parts, parts.budgets, owner));
  await parts.budgets.topUp(owner, change.limit, change.amount);
  const subject = budgetSubject(parts.keyRing, 'top-up', owner, change);
  await record(parts, visit, { act: 'budget', subject, outcome: 'done' });
  const result = !isPerson ? 'added' : isKnown ? 'added-person' : 'added-unknown';
  const to = { result, of: owner.of, name: isPerson ? '' : owner.code };
  return { kind: 'redirect', to: `/admin/budgets?${new URLSearchParams(to).toString()}` };
}

async function readUsageOf(parts: HandlerParts, visit: Visit): Promise<UsageView> {
  const group = USAGE_GROUPS.find((one) => one === visit.query.get('by')) ?? 'day';
  const typed = { since: (visit.query.get('since') ?? '').trim(), until: (visit.query.get('until') ?? '').trim() };
  const dayOf = (text: string) => (isDay(text) ? text : '');
  const days = { since: dayOf(typed.since), until: dayOf(typed.until) };
  const isForm = days.since === typed.since && days.until === typed.until;
  const sums = sumUsage(group, await readAllUsage(parts.redis, days));
  await record(parts, visit, { act: 'usage', outcome: 'done' });
  return {
    language: visit.language,
    group,
    days,
    wrong: isForm ? (isReversed(days) ? 'order' : undefined) : 'form',
    sums,
  };
}

async function showUsage(parts: HandlerParts, visit: Visit): Promise<Reply> {
  return pageOf('/admin/usage', usageBody(await readUsageOf(parts, visit)));
}

async function downloadUsage(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const { group, sums } = await readUsageOf(parts, visit);
  return { kind: 'csv', name: `usage-by-${group}.csv`, text: usageCsv(group, sums) };
}

async function readUnansweredOf(parts: HandlerParts, visit: Visit): Promise<Unanswered[]> {
  const { redis, keyRing, showsUnansweredText: showsText, nowMs } = parts;
  const questions = await readUnansweredQuestions({ redis, keyRing, showsText }, nowMs() - UNANSWERED_LIFE_MS);
  await record(parts, visit, { act: 'unanswered', outcome: 'done' });
  return questions;
}

async function showUnanswered(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const questions = await readUnansweredOf(parts, visit);
  const { language } = visit;
  const { timeZone, showsUnansweredText: showsText } = parts;
  const view = { language, timeZone, questions, sums: sumTopics(questions), showsText };
  return pageOf('/admin/unanswered', unansweredBody(view));
}

async function downloadUnanswered(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const questions = await readUnansweredOf(parts, visit);
  return { kind: 'csv', name: 'unanswered.csv', text: topicsCsv(sumTopics(questions)) };
}

async function showPeople(parts: HandlerParts, visit: Visit, account: string): Promise<Reply> {
  const { redis, keyRing, identity, timeZone } = parts;
  const found = account === '' ? [] : await peopleOfAccounts(redis, keyRing, new Set([account]));
  const links = await Promise.all(
    found.map(async (person) => ({
      person,
      key: personKey(person),
      details: await identity.accountOf(person, person.chatUserId),
    })),
  );
  const view = { frame: visit, timeZone, account, links, result: resultOf(visit) };
  return pageOf('/admin/people', peopleBody(view));
}

/** A POST, because a person's account must not appear in an address. */
async function searchPeople(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const account = fieldOf(visit.form, 'account').slice(0, MAX_ACCOUNT_CHARS);
  const reply = await showPeople(parts, visit, account);
  await record(parts, visit, { act: 'people', subject: accountMark(parts.keyRing, account), outcome: 'done' });
  return reply;
}

/** The form names the link by account and pseudonym; only a link that exists is revoked. */
async function revoke(parts: HandlerParts, visit: Visit): Promise<Reply> {
  const { redis, keyRing, identity } = parts;
  const account = fieldOf(visit.form, 'account');
  const key = fieldOf(visit.form, 'person');
  const people = await peopleOfAccounts(redis, keyRing, new Set([account]));
  const person = people.find((one) => personKey(one) === key);
  const wasLinked = person && (await identity.unlink(person, person.chatUserId, randomToken())).wasLinked;
  const outcome = wasLinked === true ? 'done' : 'not-found';
  await record(parts, visit, { act: 'unlink', subject: accountMark(keyRing, account), outcome });
  return { kind: 'redirect', to: `/admin/people?result=${wasLinked === true ? 'revoked' : 'gone'}` };
}
