import { z } from 'zod'
import { isShort, isStepId, MAX_STEP_ID, STEP_ID_RULE, sameForm } from './step-id'

// Separate from the rule itself, which the browser uses without zod.

const text = z.string().overwrite(sameForm)

/** The id of a step in a definition. */
export const StepId = text
  .refine(isStepId, STEP_ID_RULE)
  // Patterns in other languages do not support scripts.
  .meta({ minLength: 1, maxLength: MAX_STEP_ID, pattern: '^[^\\s#/:|~]+$' })
  .describe(
    'Unique within the workflow: 1 to 200 letters of any script, digits, `_`, `-` and `.`, in any order. Ids that look the same are the same: they are kept in the normalization form C of Unicode.',
  )

/** Refers to a step by its id, which may not exist. */
export const StepRef = text
  .refine(isShort, `must have ${MAX_STEP_ID} characters at most`)
  .meta({ maxLength: MAX_STEP_ID })
