import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from '@/app/_ui/link'
import { runsText } from '../../../runs-text'
import { useTenant } from '../../../tenant-context'
import { type ReasonGroup, reasonGroups } from './move-plan'
import styles from './open-runs.module.css'

/** How many runs of a group to link at first. */
const SHOWN = 5

/** Why runs are not moved, with the runs and what to do instead. */
export function Reasons(props: {
  runs: Parameters<typeof reasonGroups>[0]
  /** A run's business key, if it has one. */
  keyOf: (runId: string) => string | null
}) {
  return (
    <ul className={styles.groups}>
      {reasonGroups(props.runs).map((group) => (
        <Group key={group.runIds[0]} group={group} keyOf={props.keyOf} />
      ))}
    </ul>
  )
}

function Group({ group, keyOf }: { group: ReasonGroup; keyOf: (runId: string) => string | null }) {
  const { path } = useTenant()
  const { title, messages, advice, runIds } = group
  const [all, setAll] = useState(false)
  const shown = all ? runIds : runIds.slice(0, SHOWN)
  return (
    <li className={styles.group}>
      <p className={styles.title}>
        <span className={styles.count}>{runsText(runIds.length)}</span>
        {title}
      </p>
      {messages.map((message) => (
        <p key={message} className={styles.message}>
          {message}
        </p>
      ))}
      {advice.map((one) => (
        <p key={one} className={styles.note}>
          {one}
        </p>
      ))}
      <ul className={styles.runs} aria-label={`Runs: ${title}`}>
        {shown.map((runId) => (
          <li key={runId}>
            <Link href={path(`/runs/${runId}`)} target="_blank">
              {keyOf(runId) ?? (
                <>
                  Run <span className="mono">…{runId.slice(-6)}</span>
                </>
              )}
            </Link>
          </li>
        ))}
        {shown.length < runIds.length && (
          <li>
            <Button variant="subtle" size="compact-sm" onClick={() => setAll(true)}>
              Show all {runIds.length.toLocaleString('en')}
            </Button>
          </li>
        )}
      </ul>
    </li>
  )
}
