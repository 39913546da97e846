// Takes the README's pictures from a running local mode: npm start in one terminal, node scripts/take-pictures.mjs in another.
// The messenger must be at MESSENGER_PORT (8082 unless told), with nobody signed in yet. Where it plays Slack
// (MESSENGER_PROTOCOL=slack npm start), Slack's picture is taken.
import { answered, openAs, OUT, send, signIn, URL_OF_MESSENGER, withPage } from './pictures/messenger-page.mjs';

async function takeWecom() {
  await withPage({}, async (page) => {
    await openAs(page, 'emma.clarke');
    await send(page, 'How do I connect a real WeCom bot?');
    await page.locator('a[href*="/link/"]').waitFor();
    await signIn(page, 'sign-in.png');
    await answered(page, 1);
    await page.waitForTimeout(800);
    await page
      .locator('[role=log] [role=note]')
      .first()
      .evaluate((line) => line.scrollIntoView({ block: 'start' }));
    await page.mouse.move(0, 0);
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${OUT}/messenger.png` });
  });

  await withPage({ colorScheme: 'dark', locale: 'zh-CN' }, async (page) => {
    await openAs(page, 'zhangwei');
    await send(page, '你好');
    await page.locator('a[href*="/link/"]').waitFor();
    await signIn(page);
    await answered(page, 1);
    await openAs(page, 'zhangwei', 'group');
    await send(page, '下午三点系统维护，请大家提前保存。');
    await send(page, '@Parley 如何查看我登录的身份？');
    await answered(page, 1);
    await page.waitForTimeout(800);
    await page.screenshot({ path: `${OUT}/group-dark.png` });
  });
}

/** The code that proves who asks is typed in the chat, beside the page that shows it. */
async function takeSlack() {
  await withPage({}, async (page) => {
    await openAs(page, 'emma.clarke');
    await send(page, 'What can you help me with?');
    await page.locator('a[href*="/link/"]').click();
    const frame = page.frameLocator('iframe');
    const press = (name) => frame.getByRole('button', { name }).first().click();
    await press(/continue/i);
    await frame.locator('input[name=password]').waitFor();
    const [username, password] = await page.locator('.login-hint dd').allInnerTexts();
    await frame.locator('input[name=username]').fill(username);
    await frame.locator('input[name=password]').fill(password);
    await press(/sign in/i);
    await press(/allow/i);
    await press(/code/i);
    await send(page, await frame.locator('.symbols').innerText());
    await answered(page, 2);
    await page.getByRole('textbox', { name: 'Message' }).blur();
    await page.mouse.move(0, 0);
    await page.waitForTimeout(800);
    await page.screenshot({ path: `${OUT}/slack.png` });
  });
}

const { protocol } = await (await fetch(`${URL_OF_MESSENGER}/api/bootstrap`)).json();
await (protocol === 'slack' ? takeSlack() : takeWecom());
