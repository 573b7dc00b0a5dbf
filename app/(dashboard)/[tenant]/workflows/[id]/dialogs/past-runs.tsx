'use client'
import { Button, Progress, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { type Group, groupsOf } from '@/server/definition/verdict-groups'
import { assumptionText, callsText, countsText, verdictText, type Words } from '@/server/definition/verdict-text'
import type { Catalog } from '@/server/steps/catalog'
import type { WorkflowChanges } from '@/server/views/workflows/changes'
import { useTenant } from '../../../tenant-context'
import { DiffGraph } from '../canvas/differences'
import { exitLabel, exitsOf, labelIn } from '../model/definition'
import styles from './past-runs.module.css'
import { MANY, type usePastRuns } from './use-past-runs'

type Tried = Pick<WorkflowChanges, 'before' | 'after' | 'layout'>

/** What the draft would have done to runs of the past, in groups. */
export function PastRuns(props: {
  runs: ReturnType<typeof usePastRuns>
  /** The draft with where its steps are drawn, and the published version. */
  definitions: Tried
  catalog: Catalog
}) {
  const { runs, definitions, catalog } = props
  const { sample, judged, state, size } = runs
  const words = wordsOf(definitions, catalog)
  const stands = new Map(sample?.runs.map(({ id, standsFor }) => [id, standsFor]))
  const groups = groupsOf(judged, (runId) => stands.get(runId) ?? 1)
  return (
    <section aria-label="Past runs" className={styles.section}>
      <Text size="sm" fw={500}>
        Past runs
      </Text>
      {state === 'failed' && (
        <ErrorState error={runs.error} title="The past runs could not be tried" onRetry={runs.onAgain} />
      )}
      {state === 'trying' && <Trying done={judged.length} of={sample?.runs.length ?? null} onStop={runs.onStop} />}
      {sample?.runs.length === 0 && <p className={styles.note}>No run of this workflow has ended yet.</p>}
      {judged.length > 0 && (
        <p className={styles.summary} role={state === 'trying' ? undefined : 'status'}>
          {countsText(judged)}
        </p>
      )}
      {sample && sample.runs.length > 0 && state !== 'trying' && (
        <p className={styles.note}>
          {sampledText(sample.sampled, judged.length)}
          {size < MANY && sample.sampled.of > sample.runs.length && (
            <Button variant="subtle" size="compact-sm" onClick={runs.onMore}>
              Try {MANY.toLocaleString('en')}
            </Button>
          )}
          {state === 'stopped' && (
            <Button variant="subtle" size="compact-sm" onClick={runs.onAgain}>
              Try again
            </Button>
          )}
        </p>
      )}
      {groups.length > 0 && (
        <ul className={styles.groups}>
          {groups.map((group) => (
            <GroupItem key={group.runs[0]} group={group} words={words}>
              {(runId) => sample && <OnGraph sample={sample} runId={runId} definitions={definitions} />}
            </GroupItem>
          ))}
        </ul>
      )}
    </section>
  )
}

function Trying({ done, of, onStop }: { done: number; of: number | null; onStop: () => void }) {
  const text = of === null ? 'Choosing past runs' : `Trying the draft on past runs: ${done} of ${of}`
  return (
    <div className={styles.trying}>
      <Progress value={of ? (done / of) * 100 : 0} aria-label="Past runs tried" />
      <p className={styles.note}>
        {text}
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onStop}>
          Stop
        </Button>
      </p>
    </div>
  )
}

function GroupItem(props: { group: Group; words: Words; children: (runId: string) => ReactNode }) {
  const { group, words, children } = props
  const { path } = useTenant()
  const [onGraph, setOnGraph] = useState<string | null>(null)
  const { verdict, count, about, assuming, runs } = group
  const isTooLarge = verdict.is === 'untold' && verdict.needs.why === 'too large'
  const assumed = [...new Set(verdict.assumed.map((one) => assumptionText(one, words)))]
  return (
    <li>
      <details className={styles.group} data-verdict={verdict.is}>
        <summary>
          <ChevronRight size={16} aria-hidden className={styles.turns} />
          <span className={styles.count}>{count.toLocaleString('en')}</span>
          <span className={styles.text}>{verdictText(verdict, words)}</span>
        </summary>
        <div className={styles.more}>
          {[...callsText(verdict, words), ...assumed].map((line) => (
            <p key={line} className={styles.note}>
              {line}
            </p>
          ))}
          {assuming > 0 && assuming < count && (
            <p className={styles.note}>
              {assuming === 1 ? '1 of them assumes something.' : `${assuming} of them assume something.`}
            </p>
          )}
          {about > count && (
            <p className={styles.note}>They stand for about {about.toLocaleString('en')} of the newest runs.</p>
          )}
          {count > runs.length && <p className={styles.note}>The newest {runs.length}:</p>}
          <ul className={styles.runs}>
            {runs.map((runId) => (
              <li key={runId}>
                <Link href={path(`/runs/${runId}`)} target="_blank">
                  Run <span className="mono">{shortId(runId)}</span>
                </Link>
                {!isTooLarge && (
                  <Link href={path(`/runs/${runId}/what-if?version=latest`)} target="_blank">
                    Try changes
                  </Link>
                )}
                {!isTooLarge && (
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    aria-expanded={onGraph === runId}
                    onClick={() => setOnGraph(onGraph === runId ? null : runId)}
                  >
                    {onGraph === runId ? 'Hide the graph' : 'Show on the graph'}
                  </Button>
                )}
              </li>
            ))}
          </ul>
          {onGraph !== null && children(onGraph)}
        </div>
      </details>
    </li>
  )
}

/** Both ways of a run on one graph: through its version, and through the draft. */
function OnGraph(props: { sample: { workflowId: string; version: number }; runId: string; definitions: Tried }) {
  const { sample, runId, definitions } = props
  const trpc = useTRPC()
  const { workflowId: id, version } = sample
  const ways = useQuery({
    ...trpc.workflows.backtestRun.queryOptions({ id, body: { version, runId } }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (ways.error)
    return <ErrorState error={ways.error} title="The run could not be compared" onRetry={() => void ways.refetch()} />
  if (!ways.data) return <Skeleton height={420} radius="md" />
  const { before } = ways.data
  const { after, layout } = definitions
  return (
    <DiffGraph
      label={`The way of run ${shortId(runId)}, before and now`}
      {...{ before, after, layout }}
      ways={ways.data}
    />
  )
}

/** The end of an id is enough to distinguish runs. */
const shortId = (runId: string) => `…${runId.slice(-6)}`

function sampledText({ runs, of, newestOf }: { runs: number; of: number; newestOf: number }, tried: number): string {
  const number = (value: number) => value.toLocaleString('en')
  const only = tried < runs ? `Only ${number(tried)} were tried. ` : ''
  if (runs === of)
    return `${only}${runs === 1 ? 'It is the only run' : `These are all ${number(of)} runs`} that ended by themselves.`
  const newest = of >= newestOf ? `the newest ${number(of)}` : `all ${number(of)}`
  return `${only}${number(runs)} of ${newest} runs that ended by themselves, of each kind of way at least one.`
}

function wordsOf({ after, before }: Tried, catalog: Catalog): Words {
  return {
    step: (stepId) => labelIn(stepId, after, before),
    exit: (stepId, exit) =>
      exitLabel([...exitsOf(after, catalog, stepId), ...(before ? exitsOf(before, catalog, stepId) : [])], exit),
  }
}
