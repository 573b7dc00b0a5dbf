import { z } from 'zod'

/** In characters, whatever their script. */
export const MAX_STEP_ID = 200

/** The marks of a letter follow it. What separates the parts of other ids stays out: `#`, `/`, `:`, `|` and `~`. */
const STEP_ID = /^(?:[\p{L}\p{Nd}_.-]\p{M}*)+$/u

const RULE = `must have 1 to ${MAX_STEP_ID} letters, digits, _, - and .`

/** Ids that look the same are the same: they are kept and compared in this form. */
export function sameForm(id: string): string {
  return id.normalize('NFC')
}

export function isStepId(text: string): boolean {
  return isShort(text) && STEP_ID.test(text)
}

function isShort(text: string): boolean {
  return text.length <= MAX_STEP_ID || [...text].length <= MAX_STEP_ID
}

const text = z.string().overwrite(sameForm)

/** The id of a step, as a definition gives it. */
export const StepId = text
  .refine(isStepId, RULE)
  // Other languages' patterns know no scripts.
  .meta({ minLength: 1, maxLength: MAX_STEP_ID, pattern: '^[^\\s#/:|~]+$' })

/** Names a step by its id; there may be none. */
export const StepRef = text
  .refine(isShort, `must have ${MAX_STEP_ID} characters at most`)
  .meta({ maxLength: MAX_STEP_ID })
