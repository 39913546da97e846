/** Outlines on a 20 by 20 grid, drawn with the text's colour. */
export const ICON_PATHS = {
  send: 'M3.5 4.2 17 10 3.5 15.8l1.7-5.8zM5.2 10h5.6',
  image:
    'M4.5 3.5h11a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1zM3.8 14l3.7-4 3 3.2 2-2 3.8 3.6M12.6 7.6h.01',
  at: 'M13 10a3 3 0 1 0-6 0 3 3 0 0 0 6 0zm0-3v4.2a1.9 1.9 0 0 0 3.8 0V10a6.8 6.8 0 1 0-2.7 5.4',
  slash: 'M4.5 3.5h11a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1zM8.2 13.6l3.6-7.2',
  back: 'M12 4.5 6.5 10l5.5 5.5',
  close: 'M5 5l10 10M15 5 5 15',
  copy: 'M7.5 7.5h8v9h-8zM12.5 7.5v-4h-8v9h3',
  check: 'M4.5 10.5l3.7 3.7 7.3-8',
  quote: 'M8.5 5 4 9.5 8.5 14M4.5 9.5h6.7a4.8 4.8 0 0 1 4.8 4.8V16',
  thread: 'M5 4v4.8a3.2 3.2 0 0 0 3.2 3.2H15M11.5 8.5 15 12l-3.5 3.5',
  good: 'M6.5 9 9.6 3.4c1.4 0 2.2 1.1 1.9 2.4L11 8h4a1.5 1.5 0 0 1 1.5 1.8l-1 5a1.5 1.5 0 0 1-1.5 1.2H6.5zM3.5 9h3v7h-3z',
  bad: 'M6.5 11l3.1 5.6c1.4 0 2.2-1.1 1.9-2.4L11 12h4a1.5 1.5 0 0 0 1.5-1.8l-1-5A1.5 1.5 0 0 0 14 4H6.5zM3.5 11h3V4h-3z',
  remove: 'M4.5 6h11M8 6V4h4v2M6 6l.7 10h6.6L14 6M8.6 9v4.5M11.4 9v4.5',
  edit: 'M4 16l.7-3.2L13.4 4.1a1.5 1.5 0 0 1 2.1 0l.4.4a1.5 1.5 0 0 1 0 2.1L7.2 15.3zM11.8 5.7l2.500 2.500',
  onlyYou:
    'M3 10c1.7-3 4.100-4.5 7-4.5s5.300 1.5 7 4.5c-1.7 3-4.100 4.5-7 4.5S4.700 13 3 10zM10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  down: 'M10 4.5v11M5.5 11l4.5 4.5 4.5-4.5',
  chevron: 'M6 8l4 4 4-4',
  alert: 'M10 6.5v4M10 13.4h.01M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14z',
  retry: 'M15.6 8A6 6 0 1 0 16 10.6M16 4v4h-4',
  group:
    'M7.5 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM2.8 15.8c.3-2.5 2.1-3.8 4.7-3.8s4.4 1.3 4.7 3.8M13 9.3a2.2 2.2 0 1 0-.4-4.3M14 12c1.9.3 3 1.5 3.2 3.5',
  bot: 'M6 6.5h8A2.5 2.5 0 0 1 16.5 9v4a2.5 2.5 0 0 1-2.5 2.5H9.5L6 17.6v-2.1A2.5 2.5 0 0 1 3.5 13V9A2.5 2.5 0 0 1 6 6.5zM10 6.5V3.6M7.8 10.2v1.4M12.2 10.2v1.4',
} as const;

export type IconName = keyof typeof ICON_PATHS;

/** The icon as HTML, for the rendered markdown; `Icon` is its component. */
export function iconHtml(name: IconName): string {
  return `<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="${ICON_PATHS[name]}"/></svg>`;
}
