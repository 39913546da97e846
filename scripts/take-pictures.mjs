// Takes the READMEs' screenshots from a running local mode: npm start in one terminal, node scripts/take-pictures.mjs in
// another; PICTURES_IN=zh takes those of the Chinese pages. MESSENGER_URL must be the address that npm start printed, and no
// person may have signed in yet. If it simulates Slack (MESSENGER_PROTOCOL=slack SIGN_IN_PROOF=typed-code npm start), takes
// Slack's screenshot instead.
import { takeAbilities, takeModelDialog } from './pictures/abilities.mjs';
import {
  answered,
  isChinese,
  makeSmall,
  openAs,
  OUT,
  send,
  settled,
  signIn,
  URL_OF_MESSENGER,
  withPage,
} from './pictures/messenger-page.mjs';

/** An institution's first questions. */
const QUESTION = isChinese ? '怎么在我们学校部署？' : 'How do we set this up for our university?';
const ASKER = isChinese ? 'linxiaoyu' : 'emma.clarke';
const IN_THE_GROUP = isChinese
  ? ['下午三点系统维护，请大家提前保存。', '@Parley 聊天记录保存多久？']
  : ['The plotter is being repaired until three.', '@Parley how long is a conversation kept?'];

async function takeWecom() {
  await withPage({}, async (page) => {
    await openAs(page, ASKER);
    await send(page, QUESTION);
    await page.locator('a[href*="/link/"]').waitFor();
    await signIn(page, 'sign-in.png');
    await answered(page, 1);
    await settled(page);
    await page.screenshot({ path: `${OUT}/messenger.png` });
    await takeKill(page);
  });

  await withPage({ colorScheme: 'dark' }, async (page) => {
    // Each language has its own group: the two people are members of both.
    await openAs(page, ASKER, 'group', isChinese ? '信息化' : 'Studio');
    for (const text of IN_THE_GROUP) await send(page, text);
    await answered(page, 1);
    await settled(page);
    await page.screenshot({ path: `${OUT}/group-dark.png` });
  });
  await withPage({ viewport: { width: 986, height: 730 } }, takeAbilities);
  await withPage({}, takeModelDialog);
  await makeSmall();
}

/** The tour's last step, with its measurements. */
async function takeKill(page) {
  const press = (name) => page.getByRole('button', { name }).first().click();
  await press(/ask for a long answer|请求一个长回答/i);
  await page.locator('[data-sender=bot][data-state=streaming]').waitFor();
  await page.waitForTimeout(1_500);
  await press(/kill the bot now|立即强制结束机器人/i);
  await answered(page, 2);
  await page.waitForTimeout(1_500);
  // The measurements are at the end, below the visible part beside the chat.
  await page
    .getByText(/in the same message|在同一条消息/)
    .last()
    .evaluate((line) => line.scrollIntoView({ block: 'end' }));
  await settled(page);
  await page.screenshot({ path: `${OUT}/kill.png` });
}

/** The code that proves the sender's identity is typed in the chat, beside the page that shows it. */
async function takeSlack() {
  await withPage({}, async (page) => {
    await openAs(page, ASKER);
    await send(page, isChinese ? '你能做什么？' : 'What can you help me with?');
    await page.locator('a[href*="/link/"]').click();
    const frame = page.frameLocator('iframe');
    const press = (name) => frame.getByRole('button', { name }).first().click();
    await press(/continue|继续/i);
    await frame.locator('input[name=password]').waitFor();
    const [username, password] = await page.locator('.login-hint dd').allInnerTexts();
    await frame.locator('input[name=username]').fill(username);
    await frame.locator('input[name=password]').fill(password);
    await press(/sign in|登录/i);
    await press(/allow|^允许/i);
    await press(/code|验证码/i);
    await send(page, await frame.locator('.symbols').innerText());
    await answered(page, 2);
    await page.getByRole('textbox', { name: 'Message' }).blur();
    await page.mouse.move(0, 0);
    await page.waitForTimeout(800);
    await page.screenshot({ path: `${OUT}/slack.png` });
  });
  await makeSmall();
}

let protocol;
await withPage({}, async (page) => {
  await page.goto(URL_OF_MESSENGER);
  ({ protocol } = await (await page.request.get(new URL('/api/bootstrap', URL_OF_MESSENGER).href)).json());
});
await (protocol === 'slack' ? takeSlack() : takeWecom());
