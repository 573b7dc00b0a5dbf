'use client'
import { Button } from '@mantine/core'
import { assumptionText, callsText, verdictText, type Words } from '@/server/definition/verdict-text'
import type { WhatIfAnswer } from '@/server/runs/what-if/what-if'
import type { RunOverview } from '@/server/views/runs/overview'
import { StoryText } from '../story-text'
import { openText, wayText } from './way-text'
import styles from './what-if.module.css'

interface Props {
  run: RunOverview
  answer: WhatIfAnswer
  words: Words
  /** Whether an answer to the newest change is on its way. */
  isBehind: boolean
  onOpen: (stepId: string) => void
}

/** How the run went, how it would go, and how the two differ, in words. */
export function Summary({ run, answer, words, isBehind, onOpen }: Props) {
  const { verdict, other } = answer
  const needs = 'needs' in other.end ? other.end.needs : null
  const assumed = [...new Set(verdict.assumed.map((one) => assumptionText(one, words)))]
  const missing = needs && 'place' in needs && GIVEN.includes(needs.why) ? needs.place.stepId : null
  return (
    <div className={styles.summary}>
      <section aria-labelledby="what-if-real">
        <h2 id="what-if-real" className={styles.heading}>
          How it went
        </h2>
        <StoryText run={run} />
      </section>
      <section aria-labelledby="what-if-other" aria-busy={isBehind} data-behind={isBehind || undefined}>
        <h2 id="what-if-other" className={styles.heading}>
          How it would go
        </h2>
        <div role="status">
          <p className={styles.text}>{wayText(other, words)}</p>
          <p className={styles.verdict} data-verdict={verdict.is}>
            {verdict.is === 'untold' ? openText(verdict.needs, words) : verdictText(verdict, words)}.
          </p>
        </div>
        {[...callsText(verdict, words), ...assumed].map((line) => (
          <p key={line} className={styles.note}>
            {line}
          </p>
        ))}
        {missing !== null && (
          <Button size="compact-sm" variant="light" onClick={() => onOpen(missing)}>
            Say what {words.step(missing)} gives
          </Button>
        )}
      </section>
    </div>
  )
}

/** The reasons for which a person can say the missing value. */
const GIVEN = ['never called', 'open', 'stopped', 'answer', 'script']
