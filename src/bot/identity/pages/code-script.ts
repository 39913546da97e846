export const CODE_SCRIPT_PATH = '/assets/sign-in-code.js';
/** Where the script waits for the code to be typed. */
export const CODE_TYPED_PATH = '/sign-in/code-typed';

/**
 * Copies the code, and opens the next page once the chat has received the code. Without it, the page has a link for the
 * latter.
 */
export const CODE_SCRIPT = `const line = document.querySelector('[data-typed]');
const copy = document.querySelector('.copy');
const code = document.querySelector('.symbols');
const say = (name) => {
  line.textContent = name === '' ? '' : line.dataset[name];
};
const rest = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

copy.hidden = false;
copy.addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(code.textContent.trim());
    say('copied');
  } catch {
    getSelection().selectAllChildren(code);
    say('select');
  }
});

let isListening = false;
async function listen() {
  if (isListening) return;
  isListening = true;
  for (let failures = 0; failures < 5; ) {
    const response = await fetch('${CODE_TYPED_PATH}', { cache: 'no-store' }).catch(() => undefined);
    if (response?.status === 200) {
      say('typed');
      await rest(0.5);
      location.replace('/sign-in/confirm');
      return;
    }
    if (response?.status === 204) {
      failures = 0;
      await rest(Number(response.headers.get('retry-after') ?? 0));
      continue;
    }
    if (response && response.status < 500 && response.status !== 429) break;
    failures += 1;
    await rest(2 * failures);
  }
  isListening = false;
  if (line.textContent === line.dataset.waiting) say('');
}
say('waiting');
listen();
// A phone suspends the page while its user is in the chat.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) listen();
});
`;
