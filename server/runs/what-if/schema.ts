import { z } from 'zod'
import { AnyJson } from '../../definition/any-json'
import { MAX_PLACE } from '../../definition/branches'
import { component } from '../../definition/component'
import { StepRef } from '../../definition/step-ref'
import { TypedCame } from '../step-through/schema'

/** The size of all changes. */
export const MAX_CHANGES_BYTES = 64 * 1024

const Fields = z.record(z.string(), AnyJson)
const At = component('WhatIfPlace', {
  branch: z.string().max(MAX_PLACE).default('main').describe('`main`, or the branch as statuses name it.'),
  stepId: StepRef,
  visit: z.number().int().min(1).default(1),
})

/** The changes of the facts of a run. */
export const Changes = component('WhatIfChanges', {
  input: Fields.default({}).describe('Fields of START with another value; the others are as the run had them.'),
  data: z
    .array(component('WhatIfFields', { before: At.describe('The visit before which they change.'), fields: Fields }))
    .max(100)
    .default([])
    .describe('Fields of the run’s data with another value from there on.'),
  came: z
    .array(
      component('WhatIfCame', {
        at: At.describe('The visit.'),
        came: TypedCame.describe('`{ output }`, `{ failed: { code, message } }` or `{ answer }`.'),
      }),
    )
    .max(100)
    .default([])
    .describe('What came of a call, a question, an event or a run that was started.'),
})
export type Changes = z.output<typeof Changes>

export const WhatIf = component('WhatIf', {
  version: z
    .union([z.string().max(20), z.number()])
    .default('own')
    .describe('`own` (the default: that of the run), `latest`, `published` or a number.'),
  changes: Changes.default({ input: {}, data: [], came: [] }).describe('Without any, only the version differs.'),
  reveal: z
    .boolean()
    .default(false)
    .describe('Also use and show the values of sensitive fields. Needs the role admin; the audit log says so.'),
})
export type WhatIf = z.input<typeof WhatIf>
