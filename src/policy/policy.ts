import type { May, PolicyFile, Who } from './policy-file.ts';

/** What the policy looks at of the account that is signed in (spec 2.6). */
export interface PolicyPerson {
  /** `JG`, `XS` or `QT`; empty where the profile names none. */
  identityCode: string;
  /** The department's code; empty where the profile names none. */
  department: string;
}

/** Where somebody asks. */
export interface PolicyPlace {
  kind: 'private' | 'group';
  /** The platform's id of the group; not looked at in a private chat. */
  id: string;
}

/** At least one; the first answers unless the person chose another. */
export type Models = readonly [string, ...string[]];

/** What may be: an answer by one of these models, or none, since this person may not ask at all, or not here. */
export type Verdict =
  | { kind: 'allowed'; models: Models }
  | {
      kind: 'refused';
      /** What stands against it: the person, or that they ask privately, or in this group. */
      because: 'person' | 'private' | 'group';
      /** Name of the rule that decided; `otherwise` when none fits. */
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
  const decide = (person: PolicyPerson | undefined): { rule: string; may: May } => {
    const rule = file.rules.find(({ who }) => fits(who, person));
    return rule ? { rule: rule.name, may: rule.may } : { rule: 'otherwise', may: file.otherwise };
  };
  const modelsOf = (may: May): readonly string[] => {
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
      return { kind: 'allowed', models: [first, ...others] };
    },
    modelsFor: (person) => modelsOf(decide(person).may),
  };
}

/** Whether a rule is about this person: all that it names holds. Who is not signed in has no identity and no department. */
function fits({ signedIn, identity, departments }: Who, person: PolicyPerson | undefined): boolean {
  if (signedIn !== undefined && signedIn !== (person !== undefined)) return false;
  if (identity && !(person && identity.includes(person.identityCode))) return false;
  return !departments || (person !== undefined && departments.some((code) => isWithin(person.department, code)));
}

/** `31*` stands for every department whose code begins with 31. */
function isWithin(department: string, code: string): boolean {
  return code.endsWith('*') ? department.startsWith(code.slice(0, -1)) : department === code;
}

function isOpen({ private: isPrivateOpen, groups }: Extract<May, { use: true }>, { kind, id }: PolicyPlace): boolean {
  if (kind === 'private') return isPrivateOpen;
  return groups === 'all' || (groups !== 'none' && groups.includes(id));
}
