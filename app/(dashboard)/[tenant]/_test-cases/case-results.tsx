'use client'
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import { durationText } from '@/app/_ui/time-text'
import type { CaseResult } from '@/server/versioned/run-cases'
import styles from './test-cases.module.css'

const OUTCOMES = {
  passed: { text: 'Passed', icon: CircleCheck },
  failed: { text: 'Failed', icon: CircleX },
  'not run': { text: 'Not run', icon: CircleDashed },
} as const

export function CaseOutcome({ result }: { result: CaseResult }) {
  const { text, icon: Icon } = OUTCOMES[result.outcome]
  return (
    <span className={styles.outcome} data-outcome={result.outcome}>
      <Icon size={16} aria-hidden /> {text}
      {result.outcome !== 'not run' && (
        <span className={styles.note}>
          {[durationText(result.ms), ...spentText([result])].filter((part) => part !== '').join(', ')}
        </span>
      )}
    </span>
  )
}

/** Tokens and cost of agents; empty for tools. */
export function spentText(results: readonly CaseResult[]): string[] {
  const tokens = results.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0)
  const cost = results.reduce((sum, result) => sum + (result.cost ?? 0), 0)
  if (!results.some(({ usage }) => usage)) return []
  const known = results.some((result) => result.cost !== null)
  return [`${tokens} tokens`, ...(known ? [`cost ${Number(cost.toPrecision(4))}`] : [])]
}

/** How a result differs from the expected one, and what it takes for granted, or why there is no result. */
export function CaseDifferences({ result: { differences, reason, assumed } }: { result: CaseResult }) {
  if (reason !== null) return <p className={styles.note}>{reason}</p>
  return (
    <>
      {differences.length > 0 && <Differences differences={differences} />}
      {assumed.map((sentence) => (
        <p key={sentence} className={styles.note}>
          {sentence}
        </p>
      ))}
    </>
  )
}

function Differences({ differences }: Pick<CaseResult, 'differences'>) {
  return (
    <table className={styles.differences}>
      <thead>
        <tr>
          <th scope="col">Where</th>
          <th scope="col">Expected</th>
          <th scope="col">Got</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, expected, actual }) => (
          <tr key={path}>
            <th scope="row">{path === '' ? 'Result' : <span className="mono">{path}</span>}</th>
            <td data-name="Expected">
              <span className="mono">{expected}</span>
            </td>
            <td data-name="Got">
              <span className="mono">{actual}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
