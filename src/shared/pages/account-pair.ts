import { html, type SafeHtml } from '../text/html.ts';

/** One of two accounts. */
export interface AccountCard {
  /** Where the account belongs: the app or the institution. */
  place?: string;
  name: string;
  detail: string;
  /** Not known yet: drawn as a placeholder. */
  isOpen?: boolean;
}

/** Two accounts side by side with an arrow between them. @param joins how the first relates to the second */
export function pairOf(left: AccountCard, right: AccountCard, joins: string): SafeHtml {
  return html`<div class="pair" role="group" aria-label="${left.name} ${joins} ${right.name}">
    ${seat(left)}
    <svg class="arrow" viewBox="0 0 32 16" width="32" height="16" aria-hidden="true" focusable="false">
      <path
        d="M2 8h26M22 2l6 6-6 6"
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
    ${seat(right)}
  </div>`;
}

function seat({ place, name, detail, isOpen }: AccountCard): SafeHtml {
  return html`<div class="seat${isOpen && ' open'}">
    <span class="avatar" aria-hidden="true">${isOpen ? '?' : ([...name][0] ?? '?').toUpperCase()}</span>
    ${place !== undefined && html`<span class="place">${place}</span>`}
    <strong class="name" dir="auto">${name}</strong>
    <span class="detail">${detail}</span>
  </div>`;
}
