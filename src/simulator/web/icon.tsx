import { ICON_PATHS, type IconName } from './icon-paths.ts';

/** A decorative outline; the surrounding control has the name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}

/** A button with only an icon; `label` is its name and tooltip. */
export function IconButton(props: {
  icon: IconName;
  label: string;
  onPress: () => void;
  class?: string;
  pressed?: boolean;
}) {
  return (
    <button
      type="button"
      class={`icon-button ${props.class ?? ''}`}
      aria-label={props.label}
      title={props.label}
      aria-pressed={props.pressed}
      onClick={props.onPress}
    >
      <Icon name={props.icon} />
    </button>
  );
}
