/** In characters, in any script. */
export const MAX_STEP_ID = 200

/** The marks of a letter follow it. Separators of other ids are excluded: `#`, `/`, `:`, `|` and `~`. */
const STEP_ID = /^(?:[\p{L}\p{Nd}_.-]\p{M}*)+$/u

/** The error for any other text. */
export const STEP_ID_RULE = `must have 1 to ${MAX_STEP_ID} letters, digits, _, - and .`

/** Ids that look the same are the same: they are stored and compared in this form. */
export function sameForm(id: string): string {
  return id.normalize('NFC')
}

export function isStepId(text: string): boolean {
  return isShort(text) && STEP_ID.test(text)
}

/** Whether it is short enough for an id. */
export function isShort(text: string): boolean {
  return text.length <= MAX_STEP_ID || [...text].length <= MAX_STEP_ID
}
