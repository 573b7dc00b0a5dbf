'use client'
import { Text, UnstyledButton } from '@mantine/core'
import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ErrorCode } from '@/app/_ui/error-code'
import { ErrorState } from '@/app/_ui/error-state'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { stepLabel } from '../model/definition'
import { fieldLabel, inWords, inWordsBehind, textOf } from '../model/problem-words'
import styles from './problem-list.module.css'

export interface ProblemListProps {
  problems: readonly Problem[]
  /** Whether the check covers the current draft. */
  checked: boolean
  error: unknown
  onGo: (problem: Problem) => void
  definition: Definition
  catalog: Catalog | undefined
  /** A button beside a problem. */
  action: (problem: Problem) => ReactNode
}

/** The draft's problems, errors first. A click shows the step and field to fix. */
export function ProblemList(props: ProblemListProps) {
  const { problems, checked, error, onGo, definition, catalog, action } = props
  if (error && problems.length === 0) {
    return (
      <div className={styles.panel}>
        <ErrorState error={error} title="The draft could not be checked" />
      </div>
    )
  }
  if (problems.length === 0) {
    return (
      <div className={styles.none} data-checked={checked}>
        {checked ? <CircleCheck size={18} aria-hidden /> : <CircleDashed size={18} aria-hidden />}
        <Text size="sm">{checked ? 'No problems. This draft can be published.' : 'Checking'}</Text>
      </div>
    )
  }
  const sorted = problems.toSorted((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
  return (
    <>
      {error ? (
        <Text size="sm" c="dimmed" px="md" role="status">
          The draft cannot be checked right now. These problems were found before your latest changes.
        </Text>
      ) : null}
      <ul className={styles.list} aria-label="Problems">
        {sorted.map((problem, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: problems have no identity of their own
          <li key={index} className={styles.line}>
            <UnstyledButton className={styles.problem} onClick={() => onGo(problem)}>
              <span className={problem.severity === 'error' ? styles.error : styles.warning}>
                {problem.severity === 'error' ? (
                  <CircleAlert size={16} aria-hidden />
                ) : (
                  <TriangleAlert size={16} aria-hidden />
                )}
                {problem.severity === 'error' ? 'Error' : 'Warning'}
              </span>
              <span>
                {problem.stepId !== undefined && (
                  <span className={styles.where}>
                    {stepLabel(definition, problem.stepId)}
                    {problem.field ? ` · ${fieldLabel(definition, catalog, problem)}` : ''}
                  </span>
                )}
                {problem.stepId === undefined ? inWords(textOf(problem)) : inWordsBehind(problem)}
              </span>
            </UnstyledButton>
            <span className={styles.code}>
              <ErrorCode code={problem.code} />
            </span>
            {action(problem)}
          </li>
        ))}
      </ul>
    </>
  )
}
