'use client'
import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { ArrowUp, ChevronLeft, ChevronRight } from 'lucide-react'
import { useRouter, useSearchParams } from 'next/navigation'
import { type ReactNode, useCallback, useMemo, useRef } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useListKeys } from '@/app/_ui/use-list-keys'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../tenant-context'
import { StartButton } from '../workflows/start-button'
import { useNamed, useWorkflowName } from '../workflows/use-workflow-name'
import { WorkflowTabs } from '../workflows/workflow-tabs'
import { FilterBar } from './filter-bar'
import { ListActions } from './list-actions'
import { NoMatch, NoRuns } from './no-runs'
import { RowsSkeleton } from './rows-skeleton'
import { cursorOf, FILTER_NAMES, inputOf } from './run-filter'
import { RunRows } from './run-rows'
import { RunTotals } from './run-totals'
import styles from './runs.module.css'
import { SavedViews } from './saved-views'
import { useRunPage } from './use-run-page'

/** Every run of the workspace, or of one workflow, newest first. */
export function RunsList({ workflowId }: { workflowId?: string }) {
  const params = useSearchParams()
  const { set } = useUrlState()
  const { path } = useTenant()
  const router = useRouter()
  const search = useRef<HTMLInputElement>(null)
  const input = useMemo(() => {
    const filter = inputOf(new URLSearchParams(params))
    return workflowId === undefined ? filter : { ...filter, workflowIds: [workflowId] }
  }, [params, workflowId])
  const { page, rows, ended, newRuns, stale } = useRunPage(input)
  const filtered = FILTER_NAMES.some((name) => params.has(name))

  const trpc = useTRPC()
  const queries = useQueryClient()
  const showNew = useCallback(() => {
    // The totals come second, so that they show the end of a run that ends in between.
    const read = page.refetch().then(() => queries.invalidateQueries(trpc.runs.totals.queryFilter()))
    read.catch(() => {})
    window.scrollTo({ top: 0 })
  }, [page.refetch, queries, trpc])
  const focusSearch = useCallback(() => search.current?.focus(), [])
  const open = useCallback((index: number) => router.push(path(`/runs/${rows[index]?.runId}`)), [rows, router, path])
  const marked = useListKeys({ count: rows.length, open, search: focusSearch })
  useSingleKeys({ f: focusSearch, n: showNew, r: showNew })

  return (
    <>
      <Header
        workflowId={workflowId}
        actions={
          <>
            {newRuns > 0 && (
              <Button variant="light" leftSection={<ArrowUp size={16} aria-hidden />} onClick={showNew}>
                {newRuns >= 100 ? '99+' : newRuns} new {newRuns === 1 ? 'run' : 'runs'}
              </Button>
            )}
            <SavedViews params={new URLSearchParams(params)} workflowId={workflowId} />
            <ListActions input={input} onChanged={showNew} />
            {workflowId !== undefined && <StartOf workflowId={workflowId} />}
          </>
        }
      />
      <PageBody>
        <FilterBar params={new URLSearchParams(params)} set={set} searchRef={search} workflowId={workflowId} />
        <RunTotals input={input} ended={ended} />
        <div role="status" className="visually-hidden">
          {newRuns > 0 ? `${newRuns} new runs` : ''}
        </div>
        {(page.error ?? stale) && <ErrorState error={page.error ?? stale} onRetry={showNew} />}
        {page.isPending ? (
          <RowsSkeleton />
        ) : rows.length > 0 ? (
          <RunRows rows={rows} marked={marked} busy={page.isPlaceholderData} oneWorkflow={workflowId !== undefined} />
        ) : page.data && (filtered || input.after || input.before) ? (
          <NoMatch
            searched={input.q !== undefined}
            onClear={() => set(Object.fromEntries([...FILTER_NAMES, 'cursor'].map((name) => [name, null])))}
          />
        ) : (
          page.data && <NoRuns workflowId={workflowId} />
        )}
        {page.data && (page.data.previous || page.data.next) && (
          <nav className={styles.pages} aria-label="Pages">
            <PageButton
              direction="before"
              place={page.data.previous}
              onGo={(cursor) => set({ cursor }, { push: false })}
            />
            <PageButton direction="after" place={page.data.next} onGo={(cursor) => set({ cursor }, { push: false })} />
          </nav>
        )}
      </PageBody>
    </>
  )
}

function Header({ workflowId, actions }: { workflowId: string | undefined; actions: ReactNode }) {
  return workflowId === undefined ? (
    <PageHeader title="Runs" actions={actions} />
  ) : (
    <WorkflowHeader workflowId={workflowId} actions={actions} />
  )
}

function WorkflowHeader({ workflowId, actions }: { workflowId: string; actions: ReactNode }) {
  const { path } = useTenant()
  const name = useWorkflowName(workflowId)
  return (
    <PageHeader
      title={name}
      back={{ href: path('/workflows'), label: 'Workflows' }}
      tabs={<WorkflowTabs id={workflowId} here="runs" />}
      actions={actions}
    />
  )
}

/** Only for a published workflow: the page has no draft to try out instead. */
function StartOf({ workflowId }: { workflowId: string }) {
  const workflow = useNamed(workflowId)
  return workflow && workflow.publishedNumber !== null && <StartButton workflow={workflow} primary />
}

function PageButton({
  direction,
  place,
  onGo,
}: {
  direction: 'after' | 'before'
  place: string | null
  onGo: (cursor: string) => void
}) {
  const older = direction === 'after'
  return (
    <Button
      variant="default"
      disabled={place === null}
      leftSection={older ? undefined : <ChevronLeft size={16} aria-hidden />}
      rightSection={older ? <ChevronRight size={16} aria-hidden /> : undefined}
      onClick={() => {
        if (place) onGo(cursorOf(direction, place))
        window.scrollTo({ top: 0 })
      }}
    >
      {older ? 'Older' : 'Newer'}
    </Button>
  )
}
