import type { Permission, PolicyFile } from './policy-file.ts';
import { matches, isOpen, type PolicyPerson, type PolicyPlace } from './subject.ts';

/** At least one; the first answers unless the person chose another. */
export type Models = readonly [string, ...string[]];

/**
 * What may be: an answer by one of these models, or none, since this person may not ask at all, or not here. `rule` is the name of the
 * rule that decided; `otherwise` when none fits.
 */
export type Verdict =
  | { kind: 'allowed'; models: Models; rule: string }
  | {
      kind: 'refused';
      /** What stands against it: the person, or that they ask privately, or in this group. */
      because: 'person' | 'private' | 'group';
      rule: string;
    };

/** Who may use the bot, where, and with which models. */
export interface Policy {
  /** The first rule that fits decides. @param person undefined for somebody who is not signed in */
  judge(person: PolicyPerson | undefined, place: PolicyPlace): Verdict;
  /** The models that this person may use, the one that answers by default first; none when they may not use the bot. */
  modelsFor(person: PolicyPerson | undefined): readonly string[];
}

export interface PolicyOptions {
  file: PolicyFile;
  /** All that there are (CHAT_MODELS). */
  models: readonly string[];
  /** The one that answers wherever it is allowed (CHAT_MODEL); one of them. */
  defaultModel: string;
}

export function createPolicy({ file, models, defaultModel }: PolicyOptions): Policy {
  const decide = (person: PolicyPerson | undefined): { rule: string; may: Permission } => {
    const rule = file.rules.find(({ who }) => matches(who, person));
    return rule ? { rule: rule.name, may: rule.may } : { rule: 'otherwise', may: file.otherwise };
  };
  const modelsOf = (may: Permission): readonly string[] => {
    if (!may.use) return [];
    const allowed = may.models === 'all' ? models : may.models;
    return allowed.includes(defaultModel)
      ? [defaultModel, ...allowed.filter((name) => name !== defaultModel)]
      : allowed;
  };
  return {
    judge(person, place) {
      const { rule, may } = decide(person);
      const [first, ...others] = modelsOf(may);
      if (!may.use || first === undefined) return { kind: 'refused', because: 'person', rule };
      if (!isOpen(may, place)) return { kind: 'refused', because: place.kind, rule };
      return { kind: 'allowed', models: [first, ...others], rule };
    },
    modelsFor: (person) => modelsOf(decide(person).may),
  };
}
