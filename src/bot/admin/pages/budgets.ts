import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue } from '../../../shared/text/texts.ts';
import type { BudgetLimit, SharedBudgets } from '../../policy/budget.ts';
import type { BudgetOwner } from '../../turn/budgets/budget-store.ts';
import { BUDGET_OWNERS, isLimited, type LimitUse } from '../budget-acts.ts';
import { complaint, intro, resultText, selectField, table, textField, type ActView } from './layout.ts';
import { shareBar } from './plot.ts';
import { numberText } from './times.ts';

const TEXTS = {
  lead: {
    en: 'Use of a budget today and this month. What you add to a limit counts until the end of its day or month. Enter a person by account, a department by its code in the policy file, and a group as PLATFORM:ID.',
    zh: '查看某项额度当天和当月的用量。增加的数量在当天或当月内有效。用户填写账号，部门填写权限文件中的代码，群写作 PLATFORM:ID。',
  },
  owner: { en: 'Budget of', zh: '额度归属' },
  choose: { en: 'Choose…', zh: '请选择…' },
  name: { en: 'Account, code, group or model', zh: '账号、代码、群或模型' },
  show: { en: 'Show', zh: '查看' },
  counted: { en: 'Counted', zh: '项目' },
  used: { en: 'Used', zh: '已用' },
  limit: { en: 'Limit', zh: '上限' },
  added: { en: 'Added', zh: '已增加' },
  share: { en: 'Share used', zh: '使用比例' },
  amount: { en: 'Amount', zh: '数量' },
  add: { en: 'Add', zh: '增加' },
  ofPerson: {
    en: 'Use is counted only for people whose rule in the policy file has a budget. The limits depend on the rule and are not shown here.',
    zh: '仅当适用的规则设有额度时才统计个人用量。上限取决于该规则，这里不显示。',
  },
  noLimits: {
    en: 'The policy file sets no limits for this name, so nothing is counted or refused. Check the name.',
    zh: '权限文件没有为此名称设置上限，因此不计数，也不会拒绝提问。请检查名称。',
  },
  noPolicy: {
    en: 'The policy file cannot be read, so the limits are unknown. Run npm run check to see the cause.',
    zh: '无法读取权限文件，上限未知。请运行 npm run check 查看原因。',
  },
  needsOwner: { en: 'Choose whose budget it is, and enter the name.', zh: '请选择额度归属，并填写名称。' },
  needsGroup: {
    en: 'Enter the group as PLATFORM:ID, for example slack:C0123ABCD.',
    zh: '请将群写作 PLATFORM:ID，例如 slack:C0123ABCD。',
  },
  needsAmount: {
    en: 'The amount must be a whole number of at least 1, with at most 15 digits.',
    zh: '数量必须是不小于 1 的整数，最多 15 位。',
  },
  needsLimit: {
    en: 'The policy file does not set this limit, so nothing was added.',
    zh: '权限文件没有设置此项上限，因此没有增加。',
  },
} as const satisfies Catalogue<string>;

const OWNERS: Catalogue<BudgetOwner['of']> = {
  person: { en: 'Person', zh: '用户' },
  department: { en: 'Department', zh: '部门' },
  group: { en: 'Group', zh: '群' },
  model: { en: 'Model', zh: '模型' },
};

const LIMITS: Catalogue<BudgetLimit> = {
  questionsPerDay: { en: 'Questions per day', zh: '每天的提问数' },
  questionsPerMonth: { en: 'Questions per month', zh: '每月的提问数' },
  tokensPerDay: { en: 'Tokens per day', zh: '每天的 token 数' },
  tokensPerMonth: { en: 'Tokens per month', zh: '每月的 token 数' },
  imagesPerDay: { en: 'Images per day', zh: '每天的图片数' },
  imagesPerMonth: { en: 'Images per month', zh: '每月的图片数' },
};

const RESULTS = {
  added: { en: 'The amount was added.', zh: '已增加。' },
  'added-person': {
    en: 'The amount was added. Enter the account again to see the use.',
    zh: '已增加。重新填写账号即可查看用量。',
  },
  'added-unknown': {
    en: 'The amount was added, but no sign-in and no use of this account is stored. Check the account.',
    zh: '已增加，但没有此账号的登录或用量记录，请核对账号。',
  },
} as const satisfies Catalogue<string>;

/** Both forms of the page, as typed. */
export interface TypedBudget {
  of: string;
  name: string;
  limit: string;
  amount: string;
}

interface BudgetsView extends ActView {
  typed: TypedBudget;
  /** The chosen budget. */
  budget: { owner: BudgetOwner; limits: readonly LimitUse[] } | undefined;
  /** Of the policy file; undefined if it cannot be read. */
  shared: SharedBudgets | undefined;
  /** The form that was refused. */
  refused: 'owner' | 'top-up' | 'limit' | undefined;
}

export function budgetsBody(view: BudgetsView): SafeHtml {
  const { frame, typed, budget, shared, refused, result } = view;
  const { language, csrf } = frame;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const options = BUDGET_OWNERS.map((of) => [of, localize(OWNERS[of], language)] as const);
  const owner = {
    ...{ name: 'of', label: text('owner'), value: typed.of },
    options: [['', text('choose')], ...options] as const,
  };
  const name = {
    ...{ name: 'name', label: text('name'), value: typed.name, maxChars: 200, isWrong: refused === 'owner' },
    suggestions: [...Object.keys(shared?.departments ?? {}), ...Object.keys(shared?.models ?? {})],
  };
  const search = html`${selectField(owner)} ${textField(name)}
    <button class="primary" type="submit">${text('show')}</button>`;
  const fault = typed.of === 'group' ? text('needsGroup') : text('needsOwner');
  return html`${intro(text('lead'), resultText(RESULTS, result, language))}
    <div class="ask">${postForm('/admin/budgets', csrf, search)}</div>
    ${complaint(refused === 'owner' ? fault : undefined)} ${budget && oneBudget(view, budget)}`;
}

function oneBudget(view: BudgetsView, { owner, limits }: NonNullable<BudgetsView['budget']>): SafeHtml {
  const { language } = view.frame;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const row = ({ name, used, added, limit }: LimitUse) =>
    html`<tr>
      <th scope="row">${localize(LIMITS[name], language)}</th>
      <td class="number">${numberText(used, language)}</td>
      <td class="number">${limit === undefined ? '–' : numberText(limit, language)}</td>
      <td class="number">${numberText(added, language)}</td>
      <td class="shares">${limit !== undefined && shareBar(Math.min(used, limit + added), limit + added)}</td>
    </tr>`;
  const title = `${localize(OWNERS[owner.of], language)} ${owner.code}`;
  const heads = [text('counted'), text('used'), text('limit'), text('added'), text('share')];
  const note = noteOn(view, limits, owner);
  return html`<section>
    <h2>${title}</h2>
    ${table(title, heads, limits.map(row))} ${note && html`<p class="quiet">${text(note)}</p>`}
    ${note !== 'noLimits' && topUpForm(view, limits, owner)}
  </section>`;
}

/** Why limits are missing. */
function noteOn({ shared }: BudgetsView, limits: readonly LimitUse[], { of }: BudgetOwner) {
  if (of === 'person') return 'ofPerson';
  if (!shared) return 'noPolicy';
  return isLimited(limits) ? undefined : 'noLimits';
}

/** Adds to a limit that is set; to any if the limits are not known. */
function topUpForm({ frame, typed, refused }: BudgetsView, limits: readonly LimitUse[], { of, code }: BudgetOwner) {
  const { language, csrf } = frame;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const set = limits.filter(({ limit }) => limit !== undefined);
  const options = (set.length > 0 ? set : limits).map(({ name }) => [name, localize(LIMITS[name], language)] as const);
  const isWrong = refused === 'top-up';
  const amount = { name: 'amount', label: text('amount'), value: typed.amount, maxChars: 15, isNumber: true, isWrong };
  const fields = html`<input type="hidden" name="of" value="${of}" />
    <input type="hidden" name="name" value="${code}" />
    ${selectField({ name: 'limit', label: text('limit'), value: typed.limit, options })} ${textField(amount)}
    <button class="primary" type="submit">${text('add')}</button>`;
  return html`<div class="ask">${postForm('/admin/budgets/top-up', csrf, fields)}</div>
    ${complaint(isWrong ? text('needsAmount') : refused === 'limit' ? text('needsLimit') : undefined)}`;
}
