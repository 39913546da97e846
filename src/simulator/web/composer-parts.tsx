import { useRef } from 'preact/hooks';
import type { MessageView } from '../api.ts';
import { BOT_SENDER } from './asker.ts';
import { FileChipView, quotedWords } from './message-files.tsx';
import { Icon, IconButton } from './icon.tsx';
import { plainPreview } from './markdown.ts';
import { usePage } from './page-context.ts';
import { fixedName } from './page-texts.ts';
import type { Attachment } from './use-attachments.ts';

/** The message that the next one will quote. */
export function QuoteTray({ message, onRemove }: { message: MessageView; onRemove(): void }) {
  const { say, bootstrap } = usePage();
  const hasThreads = bootstrap.protocol === 'slack';
  const name = message.sender === BOT_SENDER ? bootstrap.botName : message.senderName;
  // Replies go to the message's thread, so the thread is shown.
  const text = hasThreads ? (message.thread?.text ?? quotedWords(message)) : quotedWords(message);
  return (
    <div class="quote-tray">
      <span class="quote-name">{hasThreads ? say('replyInThread') : name}</span>
      <span class="quote-text" dir="auto">
        {plainPreview(text) || say('image')}
      </span>
      <IconButton icon="close" label={say(hasThreads ? 'leaveThread' : 'removeQuote')} onPress={onRemove} />
    </div>
  );
}

/** Images and files of the next message. */
export function AttachmentTray(props: { attachments: readonly Attachment[]; onRemove(key: string): void }) {
  const { say } = usePage();
  if (props.attachments.length === 0) return null;
  return (
    <ul class="attachments">
      {props.attachments.map(({ key, name, fileBytes, upload }) => (
        <li key={key} class="attachment">
          {!upload && <span class="uploading" role="img" aria-label={say('uploading')} />}
          {upload && fileBytes === undefined && <img src={upload.url} alt={name} />}
          {upload && fileBytes !== undefined && <FileChipView name={name} sizeBytes={fileBytes} />}
          <IconButton
            icon="close"
            label={say(fileBytes === undefined ? 'removeImage' : 'removeFile', { name })}
            onPress={() => props.onRemove(key)}
          />
        </li>
      ))}
    </ul>
  );
}

const IMAGE_TYPES = 'image/png,image/jpeg,image/gif,image/webp';

/** The row below the text box. */
export function ComposerTools(props: {
  inGroup: boolean;
  canSend: boolean;
  onImages(files: readonly File[]): void;
  onMention(): void;
  onCommand(): void;
  onWrite(): void;
}) {
  const { say, language } = usePage();
  const file = useRef<HTMLInputElement>(null);
  // One input serves both buttons: they differ only in the dialog's filter, and the file's type is detected.
  const choose = (accept: string) => {
    if (!file.current) return;
    file.current.accept = accept;
    file.current.click();
  };
  return (
    <div class="composer-tools">
      <input
        ref={file}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          props.onImages([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = ''; // Allows choosing the same file again.
          props.onWrite();
        }}
      />
      <IconButton icon="image" label={say('addImage')} onPress={() => choose(IMAGE_TYPES)} />
      <IconButton icon="file" label={say('addFile')} onPress={() => choose('')} />
      {props.inGroup && <IconButton icon="at" label={say('mentionList')} onPress={props.onMention} />}
      <IconButton
        icon="slash"
        label={say('commandList')}
        onPress={() => {
          props.onCommand();
          props.onWrite();
        }}
      />
      <span class="keys-hint">{say('keysHint')}</span>
      <button type="submit" class="send" title={say('send')} disabled={!props.canSend} {...fixedName('send', language)}>
        <Icon name="send" />
      </button>
    </div>
  );
}
