import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

// The example documents, asked by people of examples/people.json and answered by the built-in model.

const STAFF = 'zhangwei';
const TEACHER = 'emma.clarke';
const STUDENT = 'linxiaoyu';
const GROUP = { group: 'wrtown' };

let deployment: Deployment;

beforeAll(async () => {
  deployment = await startDeployment({ env: { KNOWLEDGE_FILE: 'examples/knowledge.json' }, tokensPerSec: 5_000 });
  for (const person of [STAFF, TEACHER, STUDENT]) {
    const { id } = await deployment.messenger.driver.send(person, 'Hello');
    const shown = () => deployment.messenger.driver.answer(id);
    await untilTrue(async () => ((await shown())?.text ?? '').includes('/link/'));
    await deployment.signIn(person, (await shown())?.text ?? '');
    await deployment.messenger.driver.waitForAnswer(id);
  }
  // A separate process builds the index.
  await untilTrue(async () => (await ask(STUDENT, 'When is the library open at weekends?')).includes('[1]'), 30_000);
}, 90_000);
afterAll(() => deployment.stop());

async function ask(person: string, text: string, conversation?: typeof GROUP): Promise<string> {
  const { driver } = deployment.messenger;
  const said = await driver.send(person, { text, conversation, mention: conversation !== undefined });
  return (await driver.waitForAnswer(said.id)).text;
}

describe('the documents of the institution [knowledge-rights] [sources-were-read]', () => {
  test.each([
    [STAFF, 'How many books may I borrow?', '50 books', 'Borrowing books (staff)'],
    [STUDENT, 'How many books may I borrow?', '20 books', 'Borrowing books (students)'],
    [STAFF, '我可以借多少册图书？', '50 册', 'Borrowing books (staff)'],
    [STUDENT, '图书馆周末的开放时间是什么？', '09:00', '图书馆指南'],
    [STAFF, 'What is the number of the duty phone of the IT office?', '8800-1999', 'On-call duty'],
  ])('answer %s, who asks "%s", with %s from %s', async (person, question, words, title) => {
    const answer = await ask(person, question);
    expect(answer).toContain(words);
    expect(answer).toMatch(new RegExp(`(?:Sources|来源)[^]*\\[\\d\\] ${title.replace(/[()]/g, '\\$&')}`));
  });

  test.each([
    [STUDENT, 'How many days of annual leave do staff have?', undefined, '15 days'],
    [TEACHER, 'What is the number of the duty phone of the IT office?', undefined, '8800-1999'],
    [STAFF, 'What is the number of the duty phone of the IT office?', GROUP, '8800-1999'],
    [STAFF, 'How many books may I borrow?', GROUP, '50 books'],
  ])('give %s, who asks "%s", nothing that they may not read there', async (person, question, where, words) => {
    const answer = await ask(person, question, where);
    expect(answer).not.toContain(words);
    expect(answer).not.toContain('On-call duty');
  });

  test('answer in a group with public documents only, and name the source', async () => {
    const answer = await ask(STAFF, 'What do I do if I lost my campus card?', GROUP);
    expect(answer).toContain('8800-1200');
    expect(answer).toContain('Campus card');
  });

  test('are listed by /sources for the last answer, or reported as unused', async () => {
    await ask(STUDENT, 'When is the library open at weekends?');
    expect(await ask(STUDENT, '/sources')).toMatch(/My last answer is based on:[^]*\[1\] Library guide/);
    expect(await ask(STUDENT, '来源')).toMatch(/的依据[^]*Library guide/);
    await ask(STUDENT, 'Hello');
    expect(await ask(STUDENT, '/sources')).toBe('My last answer is not based on any of the institution’s documents.');
  });

  test('leave the list of sources out of the stored answer', async () => {
    await ask(STAFF, 'How many books may I borrow?');
    const kept = await ask(STAFF, '/export');
    expect(kept).toContain('50 books');
    expect(kept).not.toContain('**Sources**');
  });
});
