import { both, COUNT, NUMBERS, type AbilityRow } from './abilities/ability-row.ts';
import { MODEL_ROWS } from './abilities/model-rows.ts';
import { TALK_ROWS } from './abilities/talk-rows.ts';
import { TOOL_ROWS } from './abilities/tool-rows.ts';

const INVITATION = {
  en: /^Please sign in first: \[Sign in\]\(http/,
  zh: /^请先登录：\[登录\]\(http/,
};

/**
 * All abilities of the bot except slash words (slash-word-table.ts), with the built-in model of the local chat service. The
 * first row signs the asker in, and the last one signs them out.
 */
export const ABILITY_ROWS: readonly AbilityRow[] = [
  {
    name: 'sign-in: requested before the answer, which then replaces the invitation',
    steps: [
      {
        says: { en: 'count to 7', zh: '请数到 7' },
        signsIn: {
          first: INVITATION,
          told: {
            en: /Signed in as Emma Clarke \(20•••12\)\. /,
            zh: /已登录为张伟（20•••17）。/,
          },
        },
        reads: both(NUMBERS),
      },
    ],
  },
  ...TOOL_ROWS,
  ...MODEL_ROWS,
  ...TALK_ROWS,
  {
    name: 'sign-in: requested again after /unlink',
    steps: [
      {
        says: { en: '/unlink', zh: '/解绑' },
        reads: { en: /^You are signed out\..*\/logout/s, zh: /^你已退出登录.*\/logout/s },
      },
      { ...COUNT, reads: INVITATION },
    ],
  },
];
