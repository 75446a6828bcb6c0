/** Puts the focus where the person goes on, once that is drawn. */
export function focusSoon(id: string) {
  setTimeout(() => document.getElementById(id)?.focus())
}
