/** Moves the focus between messages with the arrow keys, Home and End; keys inside a message's controls are left alone. */
export function goByArrows(event: KeyboardEvent): void {
  const row = event.target as HTMLElement;
  if (!row.matches('li[data-row-key]')) return;
  const list = row.closest('[role="log"]');
  const rows = [...(list?.querySelectorAll<HTMLElement>('li[data-row-key]') ?? [])];
  const at = rows.indexOf(row);
  const target = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows.length - 1 }[event.key];
  const next = target === undefined ? undefined : rows[target];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
