import { rootOf } from './step-form'
import { fieldElementId } from './widgets/widget'

const FOCUSABLE = 'input, textarea, select, button, [contenteditable="true"], [tabindex]'

/** Takes the focus to a field of the form that is shown, or to its title. Fields folded away are opened first. */
export function focusField(field: string | undefined): void {
  const wanted = field === undefined ? null : elementOf(field)
  if (field !== undefined && !wanted) {
    document.querySelector<HTMLElement>('[data-more][aria-expanded="false"]')?.click()
    setTimeout(() => focusIn(elementOf(field) ?? document.getElementById('inspector-title')), 50)
  } else focusIn(wanted ?? document.getElementById('inspector-title'))
}

function elementOf(field: string): HTMLElement | null {
  return document.getElementById(fieldElementId(rootOf(field)))
}

function focusIn(element: HTMLElement | null): void {
  if (!element) return
  const target = element.matches(FOCUSABLE) ? element : element.querySelector<HTMLElement>(FOCUSABLE)
  target?.focus()
  target?.scrollIntoView({ block: 'nearest' })
}
