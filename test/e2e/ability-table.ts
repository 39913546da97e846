import { both, COUNT, NUMBERS, type AbilityRow } from './abilities/ability-row.ts';
import { MODEL_ROWS } from './abilities/model-rows.ts';
import { TALK_ROWS } from './abilities/talk-rows.ts';
import { TOOL_ROWS } from './abilities/tool-rows.ts';

const INVITATION = {
  en: /^Please sign in first, it takes a moment: \[Sign in\]\(http/,
  zh: /^请先登录，只需片刻：\[登录\]\(http/,
};

/**
 * Every ability of the bot but its slash words (slash-word-table.ts), as our own service's built-in model has it, in the
 * order of one walk: the first row signs the asker in, and the last one out.
 */
export const ABILITY_ROWS: readonly AbilityRow[] = [
  {
    name: 'sign-in: asked for before the answer, which then stands in the same message',
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
    name: 'sign-in: after /unlink it is asked for again',
    steps: [
      {
        says: { en: '/unlink', zh: '/解绑' },
        reads: { en: /^You are signed out here.*\/logout/s, zh: /^你已退出登录.*\/logout/s },
      },
      { ...COUNT, reads: INVITATION },
    ],
  },
];
