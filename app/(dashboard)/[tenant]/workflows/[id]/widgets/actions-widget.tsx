'use client'
import { actionProblem, type Choice } from './choice-rows'
import { Choices } from './choices'
import type { WidgetProps } from './widget'

/** The buttons of a decision: the label, and the id stored in run data. Each is an exit. */
export function ActionsWidget(props: WidgetProps) {
  return <Choices {...props} noun="action" problemOf={actionProblem} create={emptyAction} />
}

function emptyAction(): Choice {
  return { id: '', kept: '', label: '', follows: true, rest: {} }
}
