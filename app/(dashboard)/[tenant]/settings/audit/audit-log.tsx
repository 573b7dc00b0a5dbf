'use client'
import { Button, Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ChevronRight, Download, ScrollText, SearchX } from 'lucide-react'
import { usePathname, useSearchParams } from 'next/navigation'
import { useMemo, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { saveFile } from '@/app/_ui/save-file'
import { useUrlState } from '@/app/_ui/use-url-state'
import styles from './audit.module.css'
import { FILTER_NAMES, inputOf } from './audit-filter'
import { AuditFilters } from './audit-filters'
import { AuditRows } from './audit-rows'

/** Who changed what in the workspace, newest first. */
export function AuditLog() {
  const trpc = useTRPC()
  const params = useSearchParams()
  const pathname = usePathname()
  const { set } = useUrlState()
  const input = useMemo(() => inputOf(new URLSearchParams(params)), [params])
  const page = useQuery({
    ...trpc.audit.list.queryOptions(input),
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
  })
  const filtered = FILTER_NAMES.some((name) => params.has(name))
  const change = (changes: Record<string, string | null>) => set({ ...changes, cursor: null })
  const hrefOf = (name: string, value: string) => {
    const next = new URLSearchParams(params)
    next.delete('cursor')
    next.set(name, value)
    return `${pathname}?${next}`
  }
  return (
    <>
      <PageHeader title="Audit log" actions={<DownloadButton input={input} />} />
      <PageBody>
        <AuditFilters params={new URLSearchParams(params)} change={change} />
        {page.error && <ErrorState error={page.error} onRetry={() => void page.refetch()} />}
        {page.isPending && <Skeleton height={320} radius="md" />}
        {page.data && page.data.entries.length > 0 && (
          <AuditRows
            entries={page.data.entries}
            names={page.data.names}
            busy={page.isPlaceholderData}
            hrefOf={hrefOf}
          />
        )}
        {page.data?.entries.length === 0 && (
          <Nothing
            filtered={filtered || input.cursor !== undefined}
            onClear={() => set(Object.fromEntries([...FILTER_NAMES, 'cursor'].map((name) => [name, null])))}
          />
        )}
        {page.data && (page.data.nextCursor !== null || input.cursor !== undefined) && (
          <nav className={styles.pages} aria-label="Pages">
            <Button
              variant="default"
              disabled={input.cursor === undefined}
              onClick={() => set({ cursor: null }, { push: true })}
            >
              Newest
            </Button>
            <Button
              variant="default"
              disabled={page.data.nextCursor === null}
              rightSection={<ChevronRight size={16} aria-hidden />}
              onClick={() => {
                set({ cursor: page.data.nextCursor }, { push: true })
                window.scrollTo({ top: 0 })
              }}
            >
              Older
            </Button>
          </nav>
        )}
      </PageBody>
    </>
  )
}

function Nothing({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (!filtered)
    return (
      <EmptyState icon={ScrollText} title="Nothing was changed yet">
        Each change of workflows, agents, tools, keys, secrets, members and settings appears here, with who made it and
        when.
      </EmptyState>
    )
  return (
    <EmptyState
      icon={SearchX}
      title="No entries match"
      actions={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      Remove a filter, or choose a longer time range.
    </EmptyState>
  )
}

function DownloadButton({ input }: { input: ReturnType<typeof inputOf> }) {
  const client = useTRPCClient()
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const { cursor: _cursor, ...filter } = input
      const { csv, nextCursor } = await client.audit.exportCsv.query(filter)
      saveFile(`audit-log-${new Date().toISOString().slice(0, 10)}.csv`, csv, 'text/csv')
      if (nextCursor) notifyDone('The file has the newest 5,000 entries. Filter by time for earlier ones.')
    } catch (error) {
      notifyError(error, 'The audit log was not downloaded')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      variant="default"
      leftSection={<Download size={16} aria-hidden />}
      loading={busy}
      onClick={() => void download()}
    >
      Download CSV
    </Button>
  )
}
