import { expect, test } from '@jest/globals';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';

const docs = new DocSearch('/nonexistent');
const models = shippedModelsByName();
const FILE =
  '<file name="rules.docx">\n[section Loans]\n## Loans\n\nStudents keep books for 30 days.\n\n[section 罚款]\n逾期每天罚款五角。\n</file>\n\n';

async function textFor(question: string, files = FILE): Promise<string> {
  const messages = [{ role: 'user', content: files + question }];
  return (await composeAnswer(readChatRequest({ model: 'svc-max', messages }, models), docs)).text;
}

test.each([
  [
    'How long do students keep books?',
    '“rules.docx” says (section Loans):\n\n> ## Loans\n> Students keep books for 30 days.',
  ],
  ['逾期罚款多少？', '“rules.docx”（小节 罚款）中写道：\n\n> 逾期每天罚款五角。'],
  [
    'Summarise the file',
    'I am a small built-in model and can only quote. “rules.docx” begins as follows (section Loans):',
  ],
])('the built-in model quotes the relevant part of a file: %s', async (question, told) => {
  expect(await textFor(question)).toContain(told);
});

test('the built-in model does not answer an unrelated question from a file', async () => {
  expect(await textFor('1 + 1')).not.toContain('rules.docx');
  expect(await textFor('hello')).not.toContain('rules.docx');
});

test('the built-in model quotes the named or the newest of several files, without the note about hidden sheets', async () => {
  const newest = '<file name="costs.xlsx">\n(Hidden sheets, not read: Old.)\n\n[sheet Costs]\n| A | B |\n</file>\n\n';
  const told = await textFor('What does this file say?', FILE + newest);
  expect(await textFor('And what does Rules.docx say?', FILE + newest)).toContain('“rules.docx” begins');
  const other = '<file name="a.txt">\nThe file and the document say:\n\n[3]\nFormat\n</file>\n\n';
  expect(await textFor('What does this file say?', other + newest)).toContain('“costs.xlsx” begins');
  expect(await textFor('Which format?', other)).toContain('“a.txt” says:\n\n> [3]\n> Format');
  expect(told).toContain('“costs.xlsx” begins as follows (sheet Costs):\n\n| A | B |');
});
