'use client'
import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Plus, SearchX, Workflow } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useListKeys } from '@/app/_ui/use-list-keys'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../tenant-context'
import { AddSamplesButton } from './add-samples-button'
import styles from './list.module.css'
import { ListControls } from './list-controls'
import { ListPager } from './list-pager'
import { readListQuery } from './list-query'
import { ListSkeleton } from './list-skeleton'
import { NewWorkflowDialog } from './new-workflow-dialog'
import { useArchive } from './use-archive'
import { WorkflowTable } from './workflow-table'

/** The workspace's workflows: search, open, create, archive. */
export function WorkflowList() {
  const trpc = useTRPC()
  const { may, path } = useTenant()
  const router = useRouter()
  const { get, set } = useUrlState()
  const query = readListQuery(get)
  const list = useQuery({
    ...trpc.workflows.list.queryOptions(query),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  })
  const [dialog, setDialog] = useState<'blank' | 'import' | null>(null)
  const search = useRef<HTMLInputElement>(null)
  const archive = useArchive()
  const items = list.data?.items ?? []
  const marked = useListKeys({
    count: items.length,
    open: (index) => {
      const item = items[index]
      if (item) router.push(path(`/workflows/${item.id}`))
    },
    search: () => search.current?.focus(),
  })
  useSingleKeys({
    ...(may('workflow:write') ? { c: () => setDialog('blank') } : {}),
    e: () => {
      const item = items[marked]
      if (item && item.status !== 'archived' && may('workflow:publish')) archive(item)
    },
  })
  // Links from other screens open the dialog through the URL.
  const begin = dialog ?? (get('new') && may('workflow:write') ? 'blank' : null)
  const filtered = Boolean(query.q || query.status || query.archived)
  const pages = list.data ? Math.ceil(list.data.total / list.data.limit) : 1

  return (
    <>
      <PageHeader
        title="Workflows"
        actions={
          may('workflow:write') && (
            <>
              <Button variant="default" onClick={() => setDialog('import')}>
                Import
              </Button>
              <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setDialog('blank')}>
                New workflow
              </Button>
            </>
          )
        }
      />
      <PageBody>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.data ? (
          <>
            {(list.data.total > 0 || filtered) && <ListControls ref={search} />}
            {items.length > 0 ? (
              <>
                <div className={list.isPlaceholderData ? styles.stale : undefined}>
                  <WorkflowTable items={items} marked={marked} onArchive={archive} />
                </div>
                <ListPager {...list.data} shown={items.length} />
              </>
            ) : filtered || list.data.total > 0 ? (
              <EmptyState
                icon={SearchX}
                title={
                  query.q
                    ? `No workflows match “${query.q}”`
                    : list.data.total > 0
                      ? 'This page is empty'
                      : noneText(query)
                }
                actions={
                  <Button
                    variant="default"
                    onClick={() =>
                      set(list.data.total > 0 ? { page: String(pages) } : { q: null, status: null, page: null })
                    }
                  >
                    {list.data.total > 0 ? 'Go to the last page' : 'Clear filters'}
                  </Button>
                }
              />
            ) : (
              <EmptyState
                icon={Workflow}
                title="No workflows yet"
                actions={
                  may('workflow:write') && (
                    <>
                      <Button variant="default" onClick={() => setDialog('blank')}>
                        New workflow
                      </Button>
                      <Button variant="default" onClick={() => setDialog('import')}>
                        Import JSON
                      </Button>
                      <AddSamplesButton />
                    </>
                  )
                }
              >
                A workflow is a series of steps: it asks people, calls tools and agents, and waits as long as it takes.
              </EmptyState>
            )}
          </>
        ) : (
          !list.error && <ListSkeleton />
        )}
      </PageBody>
      {begin && (
        <NewWorkflowDialog
          begin={begin}
          onClose={() => {
            setDialog(null)
            if (get('new')) set({ new: null })
          }}
        />
      )}
    </>
  )
}

function noneText({ archived, status }: { archived?: boolean | undefined; status?: string | undefined }): string {
  if (archived) return 'Nothing is archived'
  return status === 'published' ? 'Nothing is published' : 'No drafts'
}
