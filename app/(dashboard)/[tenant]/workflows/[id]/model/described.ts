import { diffDefinitions } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'

/** The title of the dialog that describes a draft, and the name of the buttons that open it. */
export function describeTitle({ steps }: Definition): string {
  return steps.length === 0 ? 'Describe your process' : 'Describe a change'
}

/** A sentence about the steps that a described change has added, changed and removed. */
export function changeText(before: Definition, after: Definition): string {
  const { steps } = diffDefinitions(before, after)
  const counted = (['added', 'changed', 'removed'] as const).flatMap((kind) => {
    const count = steps.filter((step) => step.kind === kind).length
    return count === 0 ? [] : [`${count} ${kind}`]
  })
  const what = counted.length === 0 ? 'Draft changed' : `Steps: ${counted.join(', ')}`
  return `${what}. Undo reverts it.`
}
