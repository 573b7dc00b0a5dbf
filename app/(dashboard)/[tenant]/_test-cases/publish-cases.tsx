'use client'
import { Button, Loader } from '@mantine/core'
import { ErrorState } from '@/app/_ui/error-state'
import type { CaseResult } from '@/server/versioned/run-cases'
import { CaseDifferences, CaseOutcome, spentText } from './case-results'
import styles from './test-cases.module.css'

/** The test cases before publishing: not yet run, running and finished. */
export function PublishCases(props: {
  count: number
  running: boolean
  skipped: boolean
  results: readonly CaseResult[] | undefined
  error: unknown
  onSkip: () => void
}) {
  const { count, running, skipped, results, error, onSkip } = props
  if (running) {
    return (
      <p className={styles.running} role="status">
        <Loader size={16} aria-hidden /> Running {count === 1 ? 'the test case' : `${count} test cases`}
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onSkip}>
          Skip
        </Button>
      </p>
    )
  }
  if (skipped) return <p className={styles.note}>The test cases were skipped.</p>
  if (error) return <ErrorState error={error} title="The test cases were not run" />
  if (!results)
    return (
      <p className={styles.running}>
        {count === 1 ? 'One test case runs' : `${count} test cases run`} when you publish.
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onSkip}>
          Skip
        </Button>
      </p>
    )
  const others = results.filter(({ outcome }) => outcome !== 'passed')
  return (
    <div className={styles.stack}>
      <p className={styles.summary} role="status">
        {[casesText(results), ...spentText(results)].join(', ')}
      </p>
      {others.length > 0 && (
        <ul className={styles.cases}>
          {others.map((result) => (
            <li key={result.id} className={styles.case}>
              <div className={styles.line}>
                <span className={styles.name}>{result.name}</span>
                <CaseOutcome result={result} />
              </div>
              <CaseDifferences result={result} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

export function casesText(results: readonly CaseResult[]): string {
  const count = (outcome: CaseResult['outcome']) => results.filter((result) => result.outcome === outcome).length
  if (count('passed') === results.length) return results.length === 1 ? 'Passed' : `All ${results.length} passed`
  const rest = [
    ...(count('failed') > 0 ? [`${count('failed')} failed`] : []),
    ...(count('not run') > 0 ? [`${count('not run')} not run`] : []),
  ]
  return `${count('passed')} of ${results.length} passed, ${rest.join(', ')}`
}
