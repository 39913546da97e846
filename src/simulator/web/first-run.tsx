import type { ConversationView } from '../api.ts';
import { Avatar } from './avatar.tsx';
import { usePage } from './page-context.ts';
import { PromptChips } from './prompt-chips.tsx';
import { Who } from './tour/who.tsx';

/** Content of an empty conversation: an introduction, and example questions. */
export function FirstRun(props: { conversation: ConversationView; onAsk(text: string): void }) {
  const { bootstrap, person, say } = usePage();
  const login = bootstrap.localLogins?.[person.id];
  const bot = bootstrap.botName;
  const isGroup = props.conversation.kind === 'group';
  const questions = [
    say('questionOne'),
    say('questionTwo', { platform: say(bootstrap.protocol) }),
    say('questionThree'),
  ];
  return (
    <div class="first-run">
      <Avatar name={props.conversation.name} kind={isGroup ? 'group' : 'bot'} />
      <h2>{say(isGroup ? 'firstGroupTitle' : 'firstTitle', { bot })}</h2>
      <p>{say(isGroup ? 'firstGroupBody' : 'firstBody', { bot })}</p>
      {login && !isGroup && <p>{say('loginHint', login)}</p>}
      {props.conversation.prompts ? (
        <PromptChips prompts={props.conversation.prompts} onAsk={props.onAsk} />
      ) : (
        <div class="questions">
          {(isGroup ? questions.slice(0, 1) : questions).map((question) => {
            const text = isGroup ? `@${bot} ${question}` : question;
            return (
              <button key={text} type="button" onClick={() => props.onAsk(text)}>
                {text}
              </button>
            );
          })}
        </div>
      )}
      {bootstrap.isLocal === true && !isGroup && <Who />}
    </div>
  );
}
