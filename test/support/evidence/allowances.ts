import type { EvidenceKind, SecretKind } from './evidence.ts';

/** A secret that may occur in some evidence, with the reason. */
export interface Allowance {
  evidence: EvidenceKind;
  secret: SecretKind;
  /** The required context. */
  around: RegExp;
  why: string;
}

export const ALLOWANCES: readonly Allowance[] = [
  {
    evidence: 'pages',
    secret: 'ticket',
    around: /<form method="post" action="\/link\//,
    why: 'the page of a link leads on from that very link',
  },
  {
    evidence: 'pages',
    secret: 'code',
    around: /<p class="symbols">/,
    why: 'the code that is typed into the chat is read from the page that shows it',
  },
  {
    evidence: 'pages',
    secret: 'code',
    around: /^page \/oauth\/platform\/wecom\/callback\?/,
    why: 'a stand-in for the bot in test/simulator, which shows the address at which it was opened',
  },
  {
    evidence: 'pages',
    secret: 'state',
    around: /(?:redirect_uri|service)=http[\w%.-]+%2Foauth%2F(?:platform%2F\w+%2F)?callback/,
    why: 'the page that leads to a sign-in names its address',
  },
];
