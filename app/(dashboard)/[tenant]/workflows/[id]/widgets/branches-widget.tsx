'use client'
import { freeId } from '../model/definition'
import { type Choice, caseProblem } from './choice-rows'
import { Choices } from './choices'
import type { WidgetProps } from './widget'

/** The branches of a step that runs several paths in parallel. Each is an exit. */
export function BranchesWidget(props: WidgetProps) {
  return <Choices {...props} noun="branch" problemOf={caseProblem} create={newBranch} />
}

function newBranch(rows: readonly Choice[]): Choice {
  const id = freeId(`branch_${rows.length + 1}`, new Set(rows.flatMap((row) => [row.id, row.kept])))
  return { id, kept: id, label: '', follows: true, rest: {} }
}
