const SWITCH = 'millrace-single-keys'

/**
 * Whether a single-letter shortcut may act: no field has the focus, no dialog is open, and the user has not turned
 * shortcuts off.
 */
export function singleKeysAllowed(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false
  if (!singleKeysOn()) return false
  const target = event.target
  if (hasClosed(event)) return false
  if (
    target instanceof HTMLElement &&
    target.closest(
      'input, textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="combobox"]',
    )
  )
    return false
  return document.querySelector('[role="dialog"], [role="alertdialog"]') === null
}

/**
 * Whether this key press has just closed the dialog that it was pressed in, as Escape does. It must have no second
 * effect.
 */
export function hasClosed({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && !target.isConnected
}

export function singleKeysOn(): boolean {
  return window.localStorage.getItem(SWITCH) !== 'off'
}

export function setSingleKeys(on: boolean): void {
  window.localStorage.setItem(SWITCH, on ? 'on' : 'off')
}
