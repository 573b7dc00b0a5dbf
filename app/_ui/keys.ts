/**
 * The key of a shortcut. On layouts without Latin letters, the key's position determines the letter, so Ctrl+Я is
 * Ctrl+Z on a Russian keyboard.
 */
export function shortcutKey({ key, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
  if (!/^\p{L}$/u.test(key) || /^\p{Script=Latin}$/u.test(key)) return key
  if (code === 'Period') return '.'
  const letter = /^Key([A-Z])$/.exec(code)?.[1]
  if (letter === undefined) return key
  return shiftKey ? letter : letter.toLowerCase()
}

/**
 * Hides two kinds of key presses from the screens' handlers:
 * - those with which an input method composes text, such as the Enter that accepts a Japanese word;
 * - the repeats of a held Enter on a button, menu item or field, which would press the button again and again.
 *
 * @returns a function that removes the guard
 */
export function guardKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const { target } = event
    if (!(target instanceof Element)) return
    // The code editor handles input methods itself.
    if (composes(event) && !target.closest('.cm-editor')) event.stopImmediatePropagation()
    else if (event.key === 'Enter' && event.repeat && target.closest(PRESSED)) event.preventDefault()
  }
  window.addEventListener('keydown', onKey, { capture: true })
  return () => window.removeEventListener('keydown', onKey, { capture: true })
}

const PRESSED = 'button, input, select, summary, [role="button"], [role="menuitem"], [role="option"]'

/** Safari ends a composition before the key that accepts it; only the key code still shows it. */
const composes = (event: KeyboardEvent) => event.isComposing || event.keyCode === 229
