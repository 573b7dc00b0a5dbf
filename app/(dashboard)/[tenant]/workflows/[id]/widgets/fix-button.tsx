'use client'
import { Button } from '@mantine/core'
import { Wrench } from 'lucide-react'
import type { Problem } from '@/server/workflows/check/problem'
import { useActionsHere } from '../actions/editor-actions'
import { START } from '../model/definition'

/**
 * Fixes a problem of the draft with one undoable edit. What only needs a value leads to its field; nothing is drawn for
 * what takes a decision.
 */
export function FixButton(props: {
  problem: Problem
  onFixed?: (() => void) | undefined
  /** Where there is another way to the field: shows it. */
  onGo?: (problem: Problem) => void
}) {
  const { problem, onFixed, onGo } = props
  // Null on the pages where the draft is not edited. There the field is all that a problem can lead to.
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

/** What only needs a value or a choice, which the field is the place for. */
function wantedBy({ code, fault, message }: Problem): string | null {
  if (fault === 'missing' || /\bis required\b/.test(message)) return 'Fill in'
  if (code === 'BRANCH_CONFLICT' || code === 'W_BRANCH_OPEN') return 'Fill in'
  return CHOSEN.includes(code) ? 'Choose' : null
}

const CHOSEN = ['TOOL_NOT_FOUND', 'AGENT_NOT_FOUND', 'WORKFLOW_NOT_FOUND']
