import { fieldElementId } from '../widgets/widget'
import { rootOf } from './step-form'

const FOCUSABLE = 'input, textarea, select, button, [contenteditable="true"], [tabindex]'

const TRIES = 50
const TRY_EVERY_MS = 40

/**
 * Focuses a field of a step's form, or the form's title, once the form is rendered, which is after the click. Expands
 * collapsed fields first.
 */
export function focusField(
  stepId: string,
  field: string | undefined,
  mayFocus = focusClaim(),
  tries: number = TRIES,
): void {
  const form = document.querySelector<HTMLElement>('[data-form-of]')
  if (form?.dataset.formOf !== stepId) {
    if (tries > 0) setTimeout(() => focusField(stepId, field, mayFocus, tries - 1), TRY_EVERY_MS)
    return
  }
  if (!mayFocus(form)) return
  const title = document.getElementById('inspector-title')
  const wanted = field === undefined ? title : elementOf(field)
  if (wanted || field === undefined) {
    focusIn(wanted)
    return
  }
  form.querySelector<HTMLElement>('[data-more][aria-expanded="false"]')?.click()
  setTimeout(() => focusIn(elementOf(field) ?? title), TRY_EVERY_MS)
}

/**
 * Focus moves a moment after it is requested. If the user opened a dialog in between, they are typing there and keep
 * the focus.
 * @returns whether the element may still be focused
 */
export function focusClaim(): (element: Element | null) => boolean {
  const before = openDialog()
  return (element) => {
    const dialog = openDialog()
    return dialog === null || dialog === before || dialog.contains(element)
  }
}

function openDialog(): Element | null {
  return Array.from(document.querySelectorAll('[role="dialog"]')).at(-1) ?? null
}

function elementOf(field: string): HTMLElement | null {
  // Prefers the element inside the field, such as one argument, if it is rendered.
  return document.getElementById(fieldElementId(field)) ?? document.getElementById(fieldElementId(rootOf(field)))
}

function focusIn(element: HTMLElement | null): void {
  if (!element) return
  const target = element.matches(FOCUSABLE) ? element : element.querySelector<HTMLElement>(FOCUSABLE)
  target?.focus()
  target?.scrollIntoView({ block: 'nearest' })
}
