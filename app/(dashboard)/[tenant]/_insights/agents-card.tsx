'use client'
import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { Link } from '@/app/_ui/link'
import type { Spent } from '@/server/views/insights/figures'
import type { Insights } from '@/server/views/insights/read'
import { useTenant } from '../tenant-context'
import { costTexts, shownTotal, tokensOf, tokensText } from './cost'
import styles from './insights.module.css'
import { Bar, Card, count, Scroll, Tile } from './parts'
import { type Series, StackedBars } from './stacked-bars'

const COLOURS = [styles.agent1, styles.agent2, styles.agent3, styles.agent4]

/** What agents used, per day and agent, and in total: in the runs of a workflow, or in all calls of the workspace. */
export function AgentsCard({ insights, ofWorkspace }: { insights: Insights; ofWorkspace: boolean }) {
  const { spent, agents, spentDays } = insights
  const { path } = useTenant()
  const priced = spent.cost !== null
  const [chosen, setChosen] = useState('cost')
  const shows = priced ? chosen : 'tokens'
  if (spent.count === 0)
    return (
      <Card title="What agents cost">
        <p className={styles.note}>No agent was called in this period.</p>
      </Card>
    )
  const counted = ofWorkspace ? 'Calls' : 'Answers'
  const costText = costTexts(spent.cost)
  const value = (one: Spent) => (shows === 'cost' ? (one.cost ?? 0) : tokensOf(one))
  const format = shows === 'cost' ? costText : tokensText
  const most = Math.max(...agents.map(value))
  return (
    <Card
      id="agents"
      title="What agents cost"
      actions={
        priced && (
          <SegmentedControl
            aria-label="What the chart shows"
            size="xs"
            data={[
              { value: 'cost', label: 'Cost' },
              { value: 'tokens', label: 'Tokens' },
            ]}
            value={chosen}
            onChange={setChosen}
          />
        )
      }
    >
      <dl className={styles.tiles}>
        <Tile
          label="Cost"
          value={
            spent.cost === null
              ? 'Not known'
              : costText(
                  shownTotal(
                    spent.cost,
                    agents.map(({ cost }) => cost ?? 0),
                  ),
                )
          }
          note={ofWorkspace ? 'in US dollars, where a price is known' : unpricedText(spent)}
        />
        <Tile label="Tokens in" value={tokensText(spent.inputTokens)} />
        <Tile label="Tokens out" value={tokensText(spent.outputTokens)} />
        <Tile label={counted} value={count(spent.count)} note={ofWorkspace ? 'of models' : undefined} />
      </dl>
      <StackedBars
        caption={shows === 'cost' ? 'Cost of agents each day' : 'Tokens of agents each day'}
        days={spentDays}
        series={seriesOf(insights, value)}
        format={format}
        say={(all, highest) =>
          shows === 'cost'
            ? `Agents cost ${all}; the dearest day ${highest}`
            : `Agents used ${all} tokens; most on one day ${highest}`
        }
      />
      <Scroll label="What agents cost, as a table">
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">{counted}</th>
              <th scope="col" className={styles.second}>
                Tokens in
              </th>
              <th scope="col" className={styles.second}>
                Tokens out
              </th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={agent.id}>
                <th scope="row">
                  <Link href={path(`/agents/${encodeURIComponent(agent.id)}`)}>{agent.name}</Link>
                  <span className={styles.more}>
                    {tokensText(agent.inputTokens)} in, {tokensText(agent.outputTokens)} out
                  </span>
                </th>
                <td>{count(agent.count)}</td>
                <td className={styles.second}>{tokensText(agent.inputTokens)}</td>
                <td className={styles.second}>{tokensText(agent.outputTokens)}</td>
                <td>
                  {agent.cost === null ? (
                    <span className={styles.since}>not known</span>
                  ) : shows === 'cost' ? (
                    <Bar value={agent.cost} most={most} text={costText} />
                  ) : (
                    costText(agent.cost)
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className={styles.note}>
        {ofWorkspace
          ? 'Every call of a model counts, in runs, chats, invocations and tests, at the price it had then.'
          : 'Only answers in runs of this workflow count, in US dollars, at the prices that they had then.'}
      </p>
    </Card>
  )
}

/** The agents with the highest usage as single series, the rest combined. */
function seriesOf({ agents, spentDays }: Insights, value: (one: Spent) => number): Series[] {
  const charted = agents.filter(({ days }) => days.length > 0)
  const series = charted.map(({ id, name, days }, index) => ({
    key: id,
    label: name,
    colour: COLOURS[index],
    values: days.map(value),
  }))
  if (agents.length === charted.length) return series
  const others = spentDays.map((day, index) =>
    Math.max(0, value(day) - series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)),
  )
  return [...series, { key: 'others', label: 'Others', colour: styles.stopped, values: others }]
}

function unpricedText({ count: answers, unpriced }: Spent): string | undefined {
  if (unpriced === 0) return undefined
  if (unpriced === answers) return 'no prices are set'
  return `without ${count(unpriced)} of ${count(answers)} answers: no price is set`
}
