'use client'
import { Button } from '@mantine/core'
import { Wrench } from 'lucide-react'
import type { Problem } from '@/server/workflows/check/problem'
import { useActionsHere } from '../actions/editor-actions'
import { START } from '../model/definition'

/**
 * Fixes a problem of the draft with one undoable edit. A problem that only needs a value links to its field; one that
 * needs a decision has no button.
 */
export function FixButton(props: {
  problem: Problem
  onFixed?: (() => void) | undefined
  /** Shows the problem's field; absent where the field is on screen already. */
  onGo?: (problem: Problem) => void
}) {
  const { problem, onFixed, onGo } = props
  // Null on pages that do not edit the draft. There a problem can only link to its field.
  const actions = useActionsHere()
  const label = actions?.fixOf(problem) ?? null
  const wanted = label === null ? wantedBy(problem) : null
  if (label === null && (!onGo || wanted === null)) return null
  return (
    <Button
      variant="default"
      size="compact-xs"
      leftSection={<Wrench size={12} aria-hidden />}
      aria-label={`Fix: ${label ?? `${wanted?.toLowerCase()} ${problem.field ?? ''}`}`}
      onClick={() => {
        if (label === null || actions === null) onGo?.(problem)
        else if (problem.code === 'NO_STEPS') {
          // A dialog that shows the problem closes first.
          onGo?.(problem)
          actions.addAfter(START)
        } else {
          actions.fix(problem)
          onFixed?.()
        }
      }}
    >
      {label ?? wanted}
    </Button>
  )
}

/** The label for a problem that only needs a value or a choice in its field. */
function wantedBy({ code, fault, message }: Problem): string | null {
  if (fault === 'missing' || /\bis required\b/.test(message)) return 'Fill in'
  if (code === 'BRANCH_CONFLICT' || code === 'W_BRANCH_OPEN') return 'Fill in'
  return CHOSEN.includes(code) ? 'Choose' : null
}

const CHOSEN = ['TOOL_NOT_FOUND', 'AGENT_NOT_FOUND', 'WORKFLOW_NOT_FOUND']
