// Screenshots of single features: the end of a chat without its surroundings, and the dialog for connecting a model.
import { answered, isChinese, openAs, OUT, send, settled, signIn } from './messenger-page.mjs';

const WHO = isChinese ? 'chenguodong' : 'daniel.okoye';
/** Height of the captured end of the chat, in pixels. */
const HEIGHT = 540;
const SAYS = isChinese
  ? {
      words: ['/模型', '/模型 svc-max', '/思考 高', '/语言'],
      question: '怎样停止正在生成的回答？',
      tools: ['/思考 关', '你知道我是谁吗？', '上海现在几点？'],
      images: ['/模型 svc-plus', '这两张图是什么？'],
    }
  : {
      words: ['/model', '/model svc-max', '/think high', '/lang'],
      question: 'How do I stop an answer that is being written?',
      tools: ['/think off', 'Do you know who I am?', 'What time is it in Shanghai?'],
      images: ['/model svc-plus', 'What are these two pictures?'],
    };

/** Commands, reasoning, tools and images, one after another in one chat. */
export async function takeAbilities(page) {
  await openAs(page, WHO);
  await send(page, isChinese ? '你好' : 'Hello');
  await page.locator('a[href*="/link/"]').waitFor();
  await signIn(page);
  let count = 1;
  await answered(page, count);
  const say = async (text) => {
    await send(page, text);
    count += 1;
    await answered(page, count);
  };
  for (const text of SAYS.words) await say(text);
  await take(page, 'words');
  await say(SAYS.question);
  await page.locator('details.thinking summary').last().click();
  await take(page, 'thinking');
  for (const text of SAYS.tools) await say(text);
  await take(page, 'tools');
  const [choose, ask] = SAYS.images;
  await say(choose);
  await page.locator('input[type=file]').setInputFiles([`${OUT}/messenger.png`, `${OUT}/sign-in.png`]);
  await page.waitForTimeout(1_000);
  await say(ask);
  await take(page, 'images');
}

/** Enters an address and a key in the dialog; neither is tested. */
export async function takeModelDialog(page) {
  await openAs(page, WHO);
  await page.getByRole('button', { name: /connect your own model|接入自己的模型/i }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').first().fill('http://gpu-1.example.edu:8000/v1');
  await settled(page);
  await dialog.screenshot({ path: `${OUT}/model.png` });
}

async function take(page, name) {
  await settled(page);
  const end = await page.getByRole('log', { name: 'Messages' }).evaluate((log) => {
    let box = log;
    while (box.scrollHeight <= box.clientHeight && box.parentElement) box = box.parentElement;
    box.scrollTop = box.scrollHeight;
    const { x, width, bottom } = box.getBoundingClientRect();
    return { x, width, bottom };
  });
  await page.waitForTimeout(500);
  const clip = { x: end.x, y: end.bottom - HEIGHT, width: end.width, height: HEIGHT };
  await page.screenshot({ path: `${OUT}/${name}.png`, clip });
}
