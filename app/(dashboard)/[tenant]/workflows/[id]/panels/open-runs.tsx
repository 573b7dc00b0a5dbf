'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import type { OpenRuns } from '@/server/views/workflows/open-runs'
import { useTenant } from '../../../tenant-context'
import styles from './versions-panel.module.css'

/** The open runs of each version, and the text for one that has any. */
export function useOpenRuns(workflowId: string) {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.workflows.openRuns.queryOptions({ id: workflowId }), staleTime: 0 })
  return {
    of: (version: number) => data?.versions.find((open) => open.version === version) ?? null,
    text: ({ count }: OpenRuns) => `${data?.atLeast ? 'At least ' : ''}${count} open ${count === 1 ? 'run' : 'runs'}`,
  }
}

/** The current steps of a version's open runs. They end in the version that they started with, unless they are moved. */
export function OpenRunsOf(props: { workflowId: string; open: OpenRuns; text: string; isPublished: boolean }) {
  const { workflowId, open, text, isPublished } = props
  const { path, may } = useTenant()
  const { version, steps } = open
  return (
    <p className={styles.note}>
      <Link href={path(`/workflows/${workflowId}/runs?version=${version}&status=running&status=paused`)}>{text}</Link>
      {steps.length > 0 && `: ${steps.map(({ name, count }) => `${count} at ${name}`).join(', ')}`}
      {!isPublished && may('run:move') && (
        <>
          {' · '}
          <Link href={path(`/workflows/${workflowId}/versions?view=open-runs`)}>Move open runs…</Link>
        </>
      )}
    </p>
  )
}
