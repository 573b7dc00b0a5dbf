import { fixOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/fixes'
import type { Definition } from '@/server/definition/schema'
import { catalogOf } from '@/server/steps/catalog'
import { stepTypes } from '@/server/steps/registry'
import { checkGraph } from '@/server/workflows/check/graph'

/** Drafts with problems, and the drafts after each fix. */

export const catalog = catalogOf(stepTypes())
export const end = (output: object) => ({ id: 'end', type: 'end-flow', output })
export const workflow = (part: object): Definition =>
  ({
    name: 'W',
    description: '',
    initialStep: 'end',
    payload: { amount: { type: 'number' }, note: { type: 'string', required: false } },
    steps: [end({})],
    edges: [],
    ...part,
  }) as Definition

interface Drawn {
  id: string
  [field: string]: unknown
}

export const step = { id: 'ask', type: 'collect-inputs', output: { x: { type: 'string' } } }
/** The step leads to the end. */
export const alone = (first: Drawn) =>
  workflow({ initialStep: first.id, steps: [first, end({})], edges: [{ from: first.id, to: 'end' }] })
/** The step is in one branch, and a step that writes `x` in the other. */
export const branches = (second: Drawn) =>
  workflow({
    initialStep: 'all',
    steps: [{ id: 'all', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }, step, second, end({})],
    edges: [
      { from: 'all', to: 'ask', on: 'a' },
      { from: 'all', to: second.id, on: 'b' },
      { from: 'all', to: 'end', on: 'done' },
    ],
  })
/** The first of the steps, or else `ask`, begins the cleanup path. */
export const aside = (steps: Drawn[], edges: object[]) =>
  workflow({
    onCancel: steps[0]?.id ?? 'ask',
    steps: [...(steps.length === 0 ? [step] : steps), { id: 'tidy', type: 'set-data', values: { b: 1 } }, end({})],
    edges,
  })
export const decision = (when: string) =>
  workflow({
    initialStep: 'if',
    steps: [{ id: 'if', type: 'condition', when }, end({})],
    edges: [
      { from: 'if', to: 'end', on: 'true' },
      { from: 'if', to: 'end', on: 'false' },
    ],
  })

export const told = (definition: Definition, code: string) =>
  checkGraph(definition).filter((problem) => problem.code === code)

/** The draft after the only fix of such a problem. */
export const repaired = (draft: Definition, code: string) => {
  const [one] = told(draft, code)
  const fix = one && fixOf(draft, catalog, one)
  return fix && { label: fix.label, ...fix.apply(draft) }
}
