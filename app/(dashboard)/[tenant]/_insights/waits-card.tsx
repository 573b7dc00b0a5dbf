'use client'
import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Link } from '@/app/_ui/link'
import { Time } from '@/app/_ui/time'
import { durationText } from '@/app/_ui/time-text'
import type { Insights } from '@/server/views/insights/read'
import { useTenant } from '../tenant-context'
import { DurationChart } from './duration-chart'
import styles from './insights.module.css'
import { Bar, Card, Chart, count, Most, orNone, Scroll } from './parts'
import { StackedBars } from './stacked-bars'

const ALL = 'all'

/** How long people's tasks wait: per day, for one step or all of them, and per step. */
export function WaitsCard({ insights, ofWorkspace }: { insights: Insights; ofWorkspace: boolean }) {
  const { waits, waitDays } = insights
  const [chosen, setChosen] = useState(ALL)
  if (waits.length === 0)
    return (
      <Card title="Where people’s tasks wait">
        <p className={styles.note}>No task was answered in this period, and none is waiting.</p>
      </Card>
    )
  const days = waits.find((row) => !ofWorkspace && row.stepId === chosen)?.days ?? waitDays
  const longest = Math.max(...waits.map(({ p50 }) => p50 ?? 0))
  return (
    <Card
      title="Where people’s tasks wait"
      actions={
        !ofWorkspace &&
        waits.length > 1 && (
          <NativeSelect
            aria-label="Step in the charts"
            size="xs"
            value={chosen}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            data={[
              { value: ALL, label: 'All steps' },
              ...waits.map(({ stepId, stepName }) => ({ value: stepId, label: stepName })),
            ]}
          />
        )
      }
    >
      <div className={styles.charts}>
        <Chart title="Answered each day, and still waiting">
          <StackedBars
            caption="Tasks answered each day, and tasks asked that day that still wait"
            days={days}
            series={[
              {
                key: 'answers',
                label: 'Answered',
                colour: styles.succeeded,
                values: days.map(({ answers }) => answers),
              },
              {
                key: 'waiting',
                label: 'Asked that day, still waiting',
                colour: styles.waiting,
                values: days.map(({ waiting }) => waiting),
              },
            ]}
            format={count}
            say={(all, most) => `${all} tasks were answered or are waiting; the busiest day had ${most}`}
          />
        </Chart>
        <Chart title="How long they waited for an answer">
          <DurationChart
            days={days}
            caption="How long tasks waited for the answers of each day"
            none="no answers"
            empty="No task was answered in this period."
          />
        </Chart>
      </div>
      <Scroll label="Where people’s tasks wait, as a table">
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Answers</th>
              <th scope="col">Half within</th>
              <th scope="col" className={styles.second}>
                95% within
              </th>
              <th scope="col">Waiting now</th>
            </tr>
          </thead>
          <tbody>
            {waits.map((row) => (
              <tr key={`${row.workflowId} ${row.stepId}`}>
                <th scope="row">
                  {row.stepName}
                  {ofWorkspace && <OfWorkflow id={row.workflowId} name={row.workflowName} />}
                </th>
                <td>{count(row.answers)}</td>
                <td>
                  <Bar value={row.p50} most={longest} text={durationText} />
                  <Most within={row.p95} />
                </td>
                <td className={styles.second}>{orNone(row.p95)}</td>
                <td>
                  {row.waiting === 0 ? '–' : count(row.waiting)}
                  {row.since !== null && (
                    <span className={styles.since}>
                      oldest asked <Time at={row.since} />
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  )
}

function OfWorkflow({ id, name }: { id: string; name: string }) {
  const { path } = useTenant()
  return (
    <Link href={path(`/workflows/${encodeURIComponent(id)}/insights`)} className={styles.of}>
      {name}
    </Link>
  )
}
