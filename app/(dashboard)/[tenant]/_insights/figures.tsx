'use client'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { Time } from '@/app/_ui/time'
import { durationText } from '@/app/_ui/time-text'
import type { Insights } from '@/server/views/insights/read'
import { useTenant } from '../tenant-context'
import { DurationChart } from './duration-chart'
import styles from './insights.module.css'
import { percentText } from './period'
import { VolumeChart } from './volume-chart'

const orNone = (ms: number | null) => (ms === null ? '–' : durationText(ms))
const count = (value: number) => value.toLocaleString('en')

/** The figures of a period: in numbers, as charts, and where people wait. */
export function Figures({ insights, ofWorkspace }: { insights: Insights; ofWorkspace: boolean }) {
  const { total, days, waits, workflows, uncounted } = insights
  const { path } = useTenant()
  const all = total.succeeded + total.failed + total.stopped
  const href = (id: string, rest: string) => path(`/workflows/${encodeURIComponent(id)}${rest}`)
  return (
    <>
      {uncounted > 0 && (
        <p className={styles.note} role="status">
          {uncounted === 1 ? '1 earlier day is' : `${uncounted} earlier days are`} still being counted.
        </p>
      )}
      <dl className={styles.tiles}>
        <Tile label="Runs that ended" value={count(all)} />
        <Tile label="Failed" value={percentText(total.failed, all)} note={count(total.failed)} bad={total.failed > 0} />
        <Tile label="Half took at most" value={orNone(total.p50)} note="p50 of runs that succeeded" />
        <Tile label="95 % took at most" value={orNone(total.p95)} note="p95 of runs that succeeded" />
      </dl>
      <div className={styles.charts}>
        <Card title="Runs that ended each day">
          <VolumeChart days={days} />
        </Card>
        <Card title="How long they took">
          <DurationChart days={days} />
        </Card>
      </div>
      <Card title="Where people’s tasks wait">
        {waits.length === 0 ? (
          <p className={styles.note}>No task was answered in this period, and none is waiting.</p>
        ) : (
          <Scroll label="Where people’s tasks wait, as a table">
            <table className={styles.table}>
              <thead>
                <tr>
                  <th scope="col">Step</th>
                  <th scope="col">Answers</th>
                  <th scope="col">Half within</th>
                  <th scope="col">95 % within</th>
                  <th scope="col">Waiting now</th>
                </tr>
              </thead>
              <tbody>
                {waits.map((row) => (
                  <tr key={`${row.workflowId} ${row.stepId}`}>
                    <th scope="row">
                      {row.stepName}
                      {ofWorkspace && (
                        <Link href={href(row.workflowId, '/insights')} className={styles.of}>
                          {row.workflowName}
                        </Link>
                      )}
                    </th>
                    <td>{count(row.answers)}</td>
                    <td>
                      <Bar value={row.p50} most={Math.max(...waits.map(({ p50 }) => p50 ?? 0))} />
                    </td>
                    <td>{orNone(row.p95)}</td>
                    <td>
                      {row.waiting === 0 ? '–' : count(row.waiting)}
                      {row.since !== null && (
                        <span className={styles.since}>
                          oldest <Time at={row.since} />
                        </span>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </Card>
      {ofWorkspace && workflows.length > 0 && (
        <Card title="Workflows">
          <Scroll label="Workflows, as a table">
            <table className={styles.table}>
              <thead>
                <tr>
                  <th scope="col">Workflow</th>
                  <th scope="col">Runs</th>
                  <th scope="col">Failed</th>
                  <th scope="col">p50</th>
                  <th scope="col">p95</th>
                </tr>
              </thead>
              <tbody>
                {workflows.map((row) => {
                  const runs = row.succeeded + row.failed + row.stopped
                  return (
                    <tr key={row.id}>
                      <th scope="row">
                        <Link href={href(row.id, '/insights')}>{row.name}</Link>
                      </th>
                      <td>{count(runs)}</td>
                      <td>{percentText(row.failed, runs)}</td>
                      <td>{orNone(row.p50)}</td>
                      <td>{orNone(row.p95)}</td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </Scroll>
        </Card>
      )}
      <p className={styles.note}>Days are in UTC. Test runs are left out.</p>
    </>
  )
}

function Tile({ label, value, note, bad = false }: { label: string; value: string; note?: string; bad?: boolean }) {
  return (
    <div className={styles.tile}>
      <dt>{label}</dt>
      <dd className={bad ? styles.bad : undefined}>{value}</dd>
      {note && <dd className={styles.tileNote}>{note}</dd>}
    </div>
  )
}

export function Card({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.card} aria-label={title}>
      <div className={styles.cardHead}>
        <h2 className={styles.cardTitle}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}

/** Scrolls sideways on a phone, by keyboard too. */
function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without a link inside, nothing else could be focused to scroll it
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

/** A duration with a bar beside the longest one. */
function Bar({ value, most }: { value: number | null; most: number }) {
  if (value === null) return '–'
  return (
    <span className={styles.bar}>
      <span
        className={styles.fill}
        style={{ width: `${Math.max(2, (value / Math.max(1, most)) * 100)}%` }}
        aria-hidden
      />
      <span>{durationText(value)}</span>
    </span>
  )
}
