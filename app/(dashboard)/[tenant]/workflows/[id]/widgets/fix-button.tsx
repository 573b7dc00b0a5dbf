'use client'
import { Button } from '@mantine/core'
import { Wrench } from 'lucide-react'
import type { Problem } from '@/server/workflows/check/problem'
import { useEditorActions } from '../actions/editor-actions'

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
  const { fixOf, fix } = useEditorActions()
  const label = fixOf(problem)
  if (label === null && (!onGo || !isMissing(problem))) return null
  return (
    <Button
      variant="light"
      size="compact-xs"
      leftSection={<Wrench size={12} aria-hidden />}
      aria-label={label === null ? `Fix: fill in ${problem.field ?? ''}` : `Fix: ${label}`}
      onClick={() => {
        if (label === null) onGo?.(problem)
        else {
          fix(problem)
          onFixed?.()
        }
      }}
    >
      {label ?? 'Fill in'}
    </Button>
  )
}

const isMissing = ({ fault, message }: Problem) => fault === 'missing' || /\bis required\b/.test(message)
