import { JsonView } from '@/app/_ui/json-view'
import { StatusPill } from '@/app/_ui/status-pill'
import { Time } from '@/app/_ui/time'
import type { Task } from '@/server/views/tasks/get'
import styles from './inbox.module.css'

/** What the run did before it paused, and its run data. */
export function SoFar({ task }: { task: Task }) {
  const { data } = task.run
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
      <h3>Run data</h3>
      {'value' in data ? (
        <JsonView value={data.value} label="Run data" openDepth={1} />
      ) : (
        <p className={styles.hint}>The run data is large. Open the run to see it.</p>
      )}
    </section>
  )
}
