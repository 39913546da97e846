import { html, type SafeHtml } from '../../../shared/text/html.ts';

const HEIGHT = 100;
const COLUMN = 10;
const GAP = 2;

/** A value of a plot. */
export interface PlottedValue {
  name: string;
  value: number;
  /** The value as text, with its unit. */
  label: string;
}

/**
 * Columns without a script or inline style, which the page's policy forbids. The labels are HTML, so that they keep their
 * size on a phone.
 */
export function columns(title: string, values: readonly PlottedValue[]): SafeHtml {
  const highest = values.reduce((most, one) => (one.value > most.value ? one : most), {
    name: '',
    value: 0,
    label: '0',
  });
  const bar = ({ name, value, label }: PlottedValue, index: number) => {
    const height = highest.value === 0 ? 0 : Math.max((value / highest.value) * HEIGHT, value > 0 ? 1 : 0);
    const x = index * COLUMN;
    return html`<g>
      <title>${name}: ${label}</title>
      <rect class="area" x="${x}" y="0" width="${COLUMN}" height="${HEIGHT}" />
      <rect class="column" x="${x + GAP / 2}" y="${HEIGHT - height}" width="${COLUMN - GAP}" height="${height}" />
    </g>`;
  };
  const width = Math.max(values.length * COLUMN, COLUMN);
  return html`<figure class="plot">
    <figcaption>${title} <span class="most">${highest.label}</span></figcaption>
    <svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}">
      ${values.map(bar)}
    </svg>
    <div class="ends" aria-hidden="true">
      <span>${values[0]?.name}</span>${values.length > 1 && html`<span>${values.at(-1)?.name}</span>`}
    </div>
  </figure>`;
}

/** A share of the greatest value, as a bar in a table. */
export function shareBar(value: number, max: number): SafeHtml {
  const width = max === 0 ? 0 : Math.round((value / max) * 1_000) / 10;
  return html`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="column" x="0" y="0" width="${width}" height="8" />
  </svg>`;
}
