'use client'
import { Link } from '@/app/_ui/link'
import type { Insights } from '@/server/views/insights/read'
import { useTenant } from '../tenant-context'
import { AgentsCard } from './agents-card'
import { costTexts } from './cost'
import { DurationChart } from './duration-chart'
import styles from './insights.module.css'
import { Card, count, Most, orNone, P50, P95, Scroll, Tile } from './parts'
import { percentText } from './period'
import { StackedBars } from './stacked-bars'
import { WaitsCard } from './waits-card'

const KINDS = [
  { key: 'succeeded', label: 'Completed', colour: styles.succeeded },
  { key: 'failed', label: 'Failed', colour: styles.failed },
  { key: 'stopped', label: 'Cancelled or terminated', colour: styles.stopped },
] as const

/** A period's figures: numbers, charts, where people wait, and what agents cost. */
export function Figures({ insights, ofWorkspace }: { insights: Insights; ofWorkspace: boolean }) {
  const { total, days, workflows, uncounted } = insights
  const { path } = useTenant()
  const all = total.succeeded + total.failed + total.stopped
  // A median over workflows of seconds and of days describes neither: the table shows each workflow's.
  const mixed = ofWorkspace && workflows.length > 1
  const costs = workflows.flatMap(({ agentCost }) => agentCost ?? [])
  const costText = costTexts(costs.reduce((sum, cost) => sum + cost, 0))
  const href = (id: string, rest: string) => path(`/workflows/${encodeURIComponent(id)}${rest}`)
  return (
    <>
      <dl className={styles.tiles}>
        {/* Always with a note, so that nothing below moves once the last day is counted. */}
        <Tile
          label="Runs that ended"
          value={count(all)}
          note={
            <span role="status">
              {uncounted === 0
                ? `in ${days.length} days`
                : `${uncounted === 1 ? '1 day' : `${uncounted} days`} still to count`}
            </span>
          }
        />
        <Tile
          label="Failed"
          value={percentText(total.failed, all)}
          note={`${count(total.failed)} of ${count(all)} ${all === 1 ? 'run' : 'runs'}`}
          bad={total.failed > 0}
        />
        {!mixed && <Tile label="Half within" hint={P50} value={orNone(total.p50)} note="of the runs that completed" />}
        <Tile label="95% within" hint={P95} value={orNone(total.p95)} note="of the runs that completed" />
      </dl>
      <div className={styles.charts}>
        <Card title="Runs that ended each day">
          <StackedBars
            caption="Runs that ended each day"
            days={days}
            series={KINDS.map((kind) => ({ ...kind, values: days.map((day) => day[kind.key]) }))}
            format={count}
            say={(all, most) => `${all} runs ended; the busiest day had ${most}`}
          />
        </Card>
        <Card title="How long they took">
          <DurationChart
            days={days}
            mixed={mixed}
            caption="How long runs took each day"
            none="no runs"
            empty="No run completed in this period."
          />
        </Card>
      </div>
      <WaitsCard insights={insights} ofWorkspace={ofWorkspace} />
      {(ofWorkspace || insights.spent.count > 0) && <AgentsCard insights={insights} ofWorkspace={ofWorkspace} />}
      {ofWorkspace && workflows.length > 0 && (
        <Card title="Workflows">
          <Scroll label="Workflows, as a table">
            <table className={styles.table}>
              <thead>
                <tr>
                  <th scope="col">Workflow</th>
                  <th scope="col">Runs</th>
                  <th scope="col">Failed</th>
                  <th scope="col" title={P50}>
                    Half within
                  </th>
                  <th scope="col" title={P95} className={styles.second}>
                    95% within
                  </th>
                  {costs.length > 0 && <th scope="col">Cost of agents</th>}
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
                      <td>
                        {orNone(row.p50)}
                        <Most within={row.p95} />
                      </td>
                      <td className={styles.second}>{orNone(row.p95)}</td>
                      {costs.length > 0 && <td>{row.agentCost === null ? '–' : costText(row.agentCost)}</td>}
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
