import { fieldElementId } from '../widgets/widget'
import { rootOf } from './step-form'

const FOCUSABLE = 'input, textarea, select, button, [contenteditable="true"], [tabindex]'

const TRIES = 50
const TRY_EVERY_MS = 40

/**
 * Takes the focus to a field of a step's form, or to the form's title, as soon as the form is there: it is drawn after
 * what was clicked. Fields folded away are opened first.
 */
export function focusField(
  stepId: string,
  field: string | undefined,
  mayTake = focusClaim(),
  tries: number = TRIES,
): void {
  const form = document.querySelector<HTMLElement>('[data-form-of]')
  if (form?.dataset.formOf !== stepId) {
    if (tries > 0) setTimeout(() => focusField(stepId, field, mayTake, tries - 1), TRY_EVERY_MS)
    return
  }
  if (!mayTake(form)) return
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
 * What is asked for now is focused a moment later. By then somebody may be writing in a dialog that they opened in
 * between, and the focus is theirs.
 * @returns whether the focus may still be taken to the element
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
  return document.getElementById(fieldElementId(rootOf(field)))
}

function focusIn(element: HTMLElement | null): void {
  if (!element) return
  const target = element.matches(FOCUSABLE) ? element : element.querySelector<HTMLElement>(FOCUSABLE)
  target?.focus()
  target?.scrollIntoView({ block: 'nearest' })
}
