import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { diffValues } from '@/server/definition/diff'
import type { Step } from '@/server/definition/schema'
import { partsText } from '../../../question-parts'
import { runsText } from '../../../runs-text'
import { definitionOf, stepLabel } from '../model/definition'
import { Fields } from '../parts/diff-list'
import type { QuestionGroup } from './move-plan'
import styles from './open-runs.module.css'

/** How many to show: each needs the version that its runs have. */
const SHOWN = 6

interface Props {
  workflowId: string
  to: number
  groups: QuestionGroup[]
  numberOf: (version: number) => number | null
}

/** What tasks ask differently in the other version, with the differences of their steps. */
export function QuestionChanges({ groups, ...of }: Props) {
  return (
    <ul className={styles.groups}>
      {groups.slice(0, SHOWN).map((group) => (
        <Question key={`${group.version} ${group.stepId}`} group={group} {...of} />
      ))}
      {groups.length > SHOWN && <li className={styles.note}>and at {groups.length - SHOWN} more steps</li>}
    </ul>
  )
}

function Question({ group, workflowId, to, numberOf }: Omit<Props, 'groups'> & { group: QuestionGroup }) {
  const { version, stepId, what, count } = group
  const before = useVersion(workflowId, version)
  const after = useVersion(workflowId, to)
  const [was, now] = [before, after].map((one) => one?.steps.find(({ id }) => id === stepId))
  return (
    <li className={styles.group}>
      <p className={styles.title}>
        {after ? stepLabel(after, stepId) : stepId}
        <span className={styles.note}>
          {runsText(count)} on v{numberOf(version)}
        </span>
      </p>
      <p className={styles.message}>Different: {partsText(what)}.</p>
      {before === null || after === null ? (
        <Skeleton height={20} />
      ) : (
        was && now && <Fields fields={askedIn(was, now)} />
      )}
    </li>
  )
}

/** The differences of a step that people see. */
function askedIn(was: Step, now: Step) {
  const unseen = /^(?:id|type|saveAs|retry|timeoutMs|maxVisits)\b/
  return diffValues(was, now).filter(({ path }) => !unseen.test(path))
}

/** Null while it loads, or if it cannot be read: what differs is named anyway. */
function useVersion(id: string, version: number) {
  const trpc = useTRPC()
  const { data } = useQuery({
    ...trpc.workflows.version.queryOptions({ id, version: String(version) }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data ? definitionOf(data) : null
}
