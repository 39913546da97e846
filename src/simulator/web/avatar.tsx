import { Icon } from './icon.tsx';
import { avatarColourOf, initialsOf } from './people.ts';

/** A decorative picture of a sender: initials in the name's color, the bot's logo, or a group's. */
export function Avatar({ name, kind = 'person' }: { name: string; kind?: 'person' | 'bot' | 'group' }) {
  if (kind === 'person') {
    return <span class={`avatar colour-${avatarColourOf(name)}`} data-initials={initialsOf(name)} aria-hidden="true" />;
  }
  return (
    <span class={`avatar ${kind}`} aria-hidden="true">
      <Icon name={kind} />
    </span>
  );
}
