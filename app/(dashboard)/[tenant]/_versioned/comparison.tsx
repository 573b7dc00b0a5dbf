'use client'
import { SegmentedControl } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CodeDiff } from '@/app/_ui/code-diff'
import { pretty, sameJson } from './json'
import type { Sides } from './side-by-side'
import styles from './versioned.module.css'

/** Shows two versions beside each other, with the labels of their form. */
export type Compare<F extends object> = (before: F, now: F, sides: Sides) => ReactNode

/** What differs between two versions: field by field, or as JSON. */
export function Comparison<F extends object>(props: {
  label: string
  before: F
  now: F
  sides: Sides
  compare: Compare<F>
}) {
  const { label, before, now, sides, compare } = props
  const [shown, setShown] = useState('sides')
  if (sameJson(before, now)) return <p className={styles.note}>These two versions are identical.</p>
  return (
    <div className={styles.compared}>
      <SegmentedControl
        aria-label="Show the changes"
        size="xs"
        style={{ justifySelf: 'start' }}
        data={[
          { value: 'sides', label: 'Side by side' },
          { value: 'json', label: 'JSON' },
        ]}
        value={shown}
        onChange={setShown}
      />
      {shown === 'sides' ? (
        compare(before, now, sides)
      ) : (
        <CodeDiff label={label} before={pretty(before)} after={pretty(now)} />
      )}
    </div>
  )
}
