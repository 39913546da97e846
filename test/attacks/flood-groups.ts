import type { Deployment } from '../support/deployment.ts';
import { createWecomSender, wecomText } from '../support/wecom-sender.ts';

/** Outcome of one person's messages in many groups. */
export interface Flood {
  taken: number;
  refused: number;
}

/** Mentions the bot in `groups` groups in parallel, `each` times per group. */
export async function floodGroups(
  { botUrl, env }: Deployment,
  { userId, groups, each }: { userId: string; groups: number; each: number },
): Promise<Flood> {
  const { WECOM_BOT_TOKEN: token = '', WECOM_BOT_AES_KEY: aesKey = '' } = env;
  const sender = createWecomSender({ botUrl, token, aesKey });
  let [taken, refused] = [0, 0];
  for (let round = 0; round < each; round += 1) {
    await Promise.all(
      Array.from({ length: groups }, async (_, group) => {
        const said = { ...wecomText(`@Parley ${round}`, userId), chattype: 'group', chatid: `wr-flood-${group}` };
        const { status, answer } = await sender.send(said);
        if (status !== 200) throw new Error(`HTTP ${status}`);
        if ((answer as { stream: { finish: boolean } }).stream.finish) refused += 1;
        else taken += 1;
      }),
    );
  }
  return { taken, refused };
}
