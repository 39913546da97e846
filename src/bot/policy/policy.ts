import { budgetsOf, type AppliedBudget } from './budget.ts';
import type { Permission, PolicyFile } from './policy-file.ts';
import { matches, isPlaceEnabled, type PolicyPerson, type PolicyPlace } from './subject.ts';

/** At least one model. The first is the default unless the person chose another. */
export type Models = readonly [string, ...string[]];

/**
 * Allowed with these models, or refused for this person or place. `rule` names the deciding rule; `otherwise` if none
 * matches.
 */
export type Verdict =
  | { kind: 'allowed'; models: Models; rule: string; budgets: readonly AppliedBudget[] }
  | {
      kind: 'refused';
      /** Reason for the refusal: the person, private chats, or this group. */
      because: 'person' | 'private' | 'group';
      rule: string;
    };

/** Decides which people may use the bot, in which places and with which models. */
export interface Policy {
  /** The first matching rule decides. @param person undefined for a person who is not signed in */
  judge(person: PolicyPerson | undefined, place: PolicyPlace): Verdict;
}

export interface PolicyOptions {
  file: PolicyFile;
  /** All available models (CHAT_MODELS). */
  models: readonly string[];
  /** Default model wherever it is allowed (CHAT_MODEL); must be in `models`. */
  defaultModel: string;
}

export function createPolicy({ file, models, defaultModel }: PolicyOptions): Policy {
  const modelsOf = (may: Permission): readonly string[] => {
    if (!may.use) return [];
    const allowed = may.models === 'all' ? models : may.models;
    return allowed.includes(defaultModel)
      ? [defaultModel, ...allowed.filter((name) => name !== defaultModel)]
      : allowed;
  };
  return {
    judge(person, place) {
      const found = file.rules.find(({ who }) => matches(who, person));
      const { name: rule, may } = found ?? { name: 'otherwise', may: file.otherwise };
      const [first, ...others] = modelsOf(may);
      if (!may.use || first === undefined) return { kind: 'refused', because: 'person', rule };
      if (!isPlaceEnabled(may, place)) return { kind: 'refused', because: place.kind, rule };
      const budgets = budgetsOf(may.budget, file, { person, place });
      return { kind: 'allowed', models: [first, ...others], rule, budgets };
    },
  };
}
