'use client'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { FieldsView } from '@/app/_ui/fields-view'
import { JsonView } from '@/app/_ui/json-view'
import { StatusPill } from '@/app/_ui/status-pill'
import { Time } from '@/app/_ui/time'
import type { Task } from '@/server/views/tasks/get'
import { ShownCard } from './answer/shown-card'
import styles from './inbox.module.css'

/** The task's card or, without one, all run data as labelled rows. A button shows the data as JSON. */
export function TaskData({ task }: { task: Task }) {
  const { data } = task.run
  const { show } = task.signal
  const [json, setJson] = useState(false)
  const empty = 'value' in data && Object.keys(data.value ?? {}).length === 0
  if (empty && !show) return null
  return (
    <section className={styles.data} data-whole={!show || undefined} aria-label={show && !json ? 'Values' : 'Run data'}>
      {'value' in data && !empty ? (
        <>
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            className={styles.toggle ?? ''}
            aria-pressed={json}
            onClick={() => setJson(!json)}
          >
            {json ? (show ? 'Values' : 'Fields') : 'JSON'}
          </Button>
          {json ? (
            <JsonView value={data.value} label="Run data as JSON" openDepth={1} />
          ) : show ? (
            <ShownCard show={show} />
          ) : (
            <FieldsView value={data.value} label="Run data as fields" labels={task.labels} />
          )}
        </>
      ) : show ? (
        <ShownCard show={show} />
      ) : (
        <p className={styles.hint}>The run’s data is too large to show here. Open the run to see it.</p>
      )}
    </section>
  )
}

/** The run's steps before the pause. */
export function SoFar({ task }: { task: Task }) {
  return (
    <section className={styles.soFar} aria-label="What happened so far">
      <h3>What happened so far</h3>
      <ol className={styles.steps}>
        <li>
          <span>Started</span> <Time at={task.run.startTime} />
        </li>
        {task.steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: history only grows
          <li key={index}>
            <span>{step.stepName}</span> <StatusPill status={step.status} />
            {step.endTime && <Time at={step.endTime} />}
          </li>
        ))}
      </ol>
    </section>
  )
}
