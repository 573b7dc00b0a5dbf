'use client'
import { Text, UnstyledButton } from '@mantine/core'
import { branchesAround, isBranch, originOf } from '@/server/definition/branches'
import type { Definition } from '@/server/definition/schema'
import { placeKey } from '@/server/definition/verdict'
import type { Stood } from '@/server/runs/step-through/step-through'
import type { Catalog } from '@/server/steps/catalog'
import { exitLabel, exitsOf, stepLabel } from '../model/definition'
import styles from './step-through.module.css'
import { type How, howOf, type Session } from './step-through-store'

const HOW: Record<How, string> = {
  computed: 'computed',
  typed: 'typed',
  ran: 'test run',
  last: 'last result',
  answered: 'answered',
}

/** “item 2”, or the name of the branch. */
function wordsOf(branch: string): string {
  const key = originOf(branch)?.key ?? ''
  return /^\d+$/.test(key) ? `item ${Number(key) + 1}` : key
}

/** The steps so far. Each leads back to the place before it. */
export function PassedVisits(props: {
  session: Session
  stood: Stood | null
  definition: Definition
  catalog: Catalog
  busy: boolean
  onBack: (nth: number) => void
}) {
  const { session, stood, definition, catalog, busy, onBack } = props
  const { visits = [], earlier = 0 } = stood ?? {}
  if (visits.length === 0)
    return (
      <Text size="sm" c="dimmed">
        The steps that you have gone through are listed here. Choose one to go back to it.
      </Text>
    )
  return (
    <nav aria-label="Steps so far">
      {earlier > 0 && (
        <Text size="sm" c="dimmed">
          {earlier.toLocaleString('en')} earlier steps
        </Text>
      )}
      <ol className={styles.visits} start={earlier + 1}>
        {visits.map((visit, nth) => {
          const { branch, step, exit } = visit
          const how = howOf(session, visit)
          const details = [
            exit === null ? '' : exitLabel(exitsOf(definition, catalog, step), exit),
            how === null ? '' : HOW[how],
          ]
          return (
            <li key={placeKey(visit)}>
              <UnstyledButton
                className={styles.visit}
                title="Back to before this step"
                disabled={busy}
                onClick={() => onBack(earlier + nth)}
              >
                <span className={styles.name}>
                  {stepLabel(definition, step)}
                  {visit.visit > 1 && ` (${visit.visit})`}
                </span>
                {isBranch(branch) && (
                  <span className={styles.note}>{branchesAround(branch).map(wordsOf).join(', ')}</span>
                )}
                <span className={styles.note}>{details.filter((text) => text !== '').join(' · ')}</span>
              </UnstyledButton>
            </li>
          )
        })}
      </ol>
    </nav>
  )
}
