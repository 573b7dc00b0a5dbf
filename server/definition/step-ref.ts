import { z } from 'zod'
import { isShort, isStepId, MAX_STEP_ID, STEP_ID_RULE, sameForm } from './step-id'

// Apart from the rule itself, which the browser uses without zod.

const text = z.string().overwrite(sameForm)

/** The id of a step, as a definition gives it. */
export const StepId = text
  .refine(isStepId, STEP_ID_RULE)
  // Other languages' patterns know no scripts.
  .meta({ minLength: 1, maxLength: MAX_STEP_ID, pattern: '^[^\\s#/:|~]+$' })

/** Names a step by its id; there may be none. */
export const StepRef = text
  .refine(isShort, `must have ${MAX_STEP_ID} characters at most`)
  .meta({ maxLength: MAX_STEP_ID })
