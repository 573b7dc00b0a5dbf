'use client'
import { Select } from '@mantine/core'
import { keepPreviousData, skipToken, useQuery } from '@tanstack/react-query'
import { Wrench } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useUrlState } from '@/app/_ui/use-url-state'
import { curl, useOrigin } from '../_versioned/curl'
import styles from '../_versioned/list.module.css'
import { ResourceList } from '../_versioned/resource-list'
import { useTenant } from '../tenant-context'
import { KindMark } from './tool-kind'
import { toolQuery } from './tool-query'
import { useToolVerbs } from './use-tool-verbs'

// Reads templates and curl commands, for which the list does not wait.
const NewToolDialog = dynamic(
  () => loadDialog(() => import('./new-tool-dialog').then((module) => module.NewToolDialog)),
  { ssr: false, loading: WaitingDialog },
)

const KINDS = [
  { value: '', label: 'All kinds' },
  { value: 'script', label: 'Script' },
  { value: 'http', label: 'HTTP' },
  { value: 'mcp', label: 'MCP' },
  { value: 'builtin', label: 'Built in' },
]

export function ToolList() {
  const trpc = useTRPC()
  const url = useUrlState()
  const { may, id: tenantId, path } = useTenant()
  const origin = useOrigin()
  const verbs = useToolVerbs()
  const [creating, setCreating] = useState(false)
  const asked = toolQuery(url.get)
  const own = useQuery({
    ...trpc.tools.list.queryOptions(asked.own ?? skipToken),
    placeholderData: keepPreviousData,
  })
  const builtin = useQuery({
    ...trpc.tools.list.queryOptions(asked.builtin ?? skipToken),
    placeholderData: keepPreviousData,
  })
  const mayWrite = may('tool:write')
  // The built-in tools are the list itself if only they are requested; otherwise they follow the workspace's own.
  const list = asked.own ? own : builtin
  const below = asked.own && asked.builtin ? (builtin.data?.items ?? []) : []
  const searching = url.get('q') !== ''
  const filtered = searching || url.get('status') !== '' || url.get('kind') !== ''
  return (
    <>
      <ResourceList
        noun="tool"
        icon={Wrench}
        rows={list.data?.items}
        total={list.data?.total ?? 0}
        error={list.error}
        onRetry={() => list.refetch()}
        filtered={filtered}
        mayWrite={mayWrite}
        onNew={() => setCreating(true)}
        filter={
          <Select
            aria-label="Kind"
            data={KINDS}
            value={url.get('kind')}
            onChange={(kind) => url.set({ kind, page: null })}
            allowDeselect={false}
            className={styles.narrow ?? ''}
          />
        }
        columns={[{ label: 'Kind', cell: ({ kind }) => <KindMark kind={kind} /> }]}
        verbs={(tool) => ({
          ...(tool.status === 'archived'
            ? {}
            : { curl: curl({ origin, tenantId, path: `/api/tools/${tool.id}/invoke`, body: { args: {} } }) }),
          ...(mayWrite && tool.kind !== 'builtin' ? { duplicate: () => verbs.duplicate(tool) } : {}),
          ...(may('tool:publish') && tool.kind !== 'builtin'
            ? tool.status === 'archived'
              ? { restore: () => verbs.restore(tool) }
              : { archive: () => verbs.archive(tool) }
            : {}),
        })}
        empty={{
          title: 'No tools yet',
          text: 'A tool does one thing for steps and agents: run your script, call an HTTP service, or call a tool on an MCP server.',
        }}
      >
        {below.length > 0 && (
          <section aria-labelledby="built-in-tools">
            <h2 className={styles.section} id="built-in-tools">
              Built in
            </h2>
            <ul className={styles.plain}>
              {below.map(({ id, name, description }) => (
                <li key={id}>
                  <Link href={path(`/tools/${id}`)}>{name}</Link>
                  <span>{description}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </ResourceList>
      {(creating || url.get('new') !== '') && (
        <NewToolDialog
          onClose={() => {
            setCreating(false)
            if (url.get('new')) url.set({ new: null })
          }}
        />
      )}
    </>
  )
}
