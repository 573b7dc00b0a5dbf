'use client'
import { Button, Pagination, Select } from '@mantine/core'
import { type LucideIcon, Plus, SearchX } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useRef } from 'react'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { SearchField } from '@/app/_ui/search-field'
import { StatusPill } from '@/app/_ui/status-pill'
import { TableHead } from '@/app/_ui/table-head'
import { Time } from '@/app/_ui/time'
import { useListKeys } from '@/app/_ui/use-list-keys'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../tenant-context'
import styles from './list.module.css'
import { PAGE_SIZE } from './list-query'
import { ListSkeleton } from './list-skeleton'
import { ResourceMenu, type RowVerbs } from './resource-menu'

export interface Resource {
  id: string
  name: string
  description: string
  status: 'draft' | 'published' | 'archived'
  version: number
  publishedVersion: number | null
  updatedAt: string
}

export interface Column<R> {
  label: string
  cell: (row: R) => ReactNode
}

const STATUSES = [
  { value: '', label: 'Not archived' },
  { value: 'draft', label: 'Draft' },
  { value: 'published', label: 'Published' },
  { value: 'archived', label: 'Archived' },
]

/** The list of agents or tools: search, filters and page in the URL, rows with a menu, and an empty state. */
export function ResourceList<R extends Resource>(props: {
  noun: 'agent' | 'tool'
  icon: LucideIcon
  rows: R[] | undefined
  total: number
  error: unknown
  onRetry: () => void
  columns: Column<R>[]
  /** Shown next to the search and the status. */
  filter?: ReactNode
  filtered: boolean
  mayWrite: boolean
  onNew: () => void
  verbs: (row: R) => RowVerbs | null
  empty: { title: string; text: string }
  /** Shown below the rows. */
  children?: ReactNode
}) {
  const { noun, icon, rows, total, error, onRetry, columns, filter, filtered, mayWrite, onNew, verbs, empty } = props
  const url = useUrlState()
  const router = useRouter()
  const { path } = useTenant()
  const search = useRef<HTMLInputElement>(null)
  const href = (row: R) => path(`/${noun}s/${encodeURIComponent(row.id)}`)
  const shown = rows ?? []
  const marked = useListKeys({
    count: shown.length,
    open: (index) => {
      const row = shown[index]
      if (row) router.push(href(row))
    },
    search: () => search.current?.focus(),
  })
  const markedRow = useRef<HTMLTableRowElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: moves with the mark
  useEffect(() => {
    markedRow.current?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  useSingleKeys(mayWrite ? { c: onNew } : {})
  const page = Math.max(1, Number(url.get('page')) || 1)
  const pages = Math.ceil(total / PAGE_SIZE)
  const title = noun === 'agent' ? 'Agents' : 'Tools'
  const add = mayWrite && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={onNew}>
      New {noun}
    </Button>
  )
  return (
    <>
      <PageHeader title={title} actions={shown.length > 0 || filtered ? add : undefined} />
      <PageBody>
        <div className={styles.bar}>
          <SearchField
            key={title}
            ref={search}
            aria-label={`Search ${noun}s`}
            placeholder={`Search ${noun}s`}
            text={url.get('q')}
            onSearch={(q) => url.set({ q, page: null })}
            className={styles.search ?? ''}
          />
          {filter}
          <Select
            aria-label="Status"
            data={STATUSES}
            value={url.get('status')}
            onChange={(status) => url.set({ status, page: null })}
            allowDeselect={false}
            className={styles.narrow ?? ''}
          />
        </div>
        {error !== null && (
          <div className={styles.problem}>
            <ErrorState error={error} onRetry={onRetry} title={`The ${noun}s could not be loaded`} />
          </div>
        )}
        {rows === undefined && error === null && <ListSkeleton />}
        {rows !== undefined && shown.length === 0 && filtered && !props.children && (
          <EmptyState
            icon={SearchX}
            title={`No ${noun} matches`}
            actions={
              <Button variant="default" onClick={() => url.set({ q: null, status: null, kind: null, page: null })}>
                Clear the filters
              </Button>
            }
          >
            {url.get('q') ? `Nothing was found for “${url.get('q')}”.` : 'Nothing matches these filters.'}
          </EmptyState>
        )}
        {rows !== undefined && shown.length === 0 && !filtered && (
          <EmptyState icon={icon} title={empty.title} actions={add}>
            {empty.text}
          </EmptyState>
        )}
        {shown.length > 0 && (
          <table className={styles.table} aria-label={title}>
            <TableHead columns={['Name', 'Status', ...columns.map(({ label }) => label), 'Updated']} />
            <tbody>
              {shown.map((row, index) => {
                const menu = verbs(row)
                return (
                  <tr
                    key={row.id}
                    ref={index === marked ? markedRow : null}
                    className={index === marked ? styles.marked : undefined}
                  >
                    <td className={styles.name}>
                      <Link href={href(row)}>{row.name}</Link>
                      {row.description && <span className={styles.description}>{row.description}</span>}
                    </td>
                    <td>
                      <span className={styles.status}>
                        <StatusPill status={row.status} />
                        <span className={styles.versions}>{versionsText(row)}</span>
                      </span>
                    </td>
                    {columns.map(({ label, cell }) => (
                      <td key={label} data-label={label}>
                        {cell(row)}
                      </td>
                    ))}
                    <td className={styles.quiet} data-label="Updated">
                      {Date.parse(row.updatedAt) > 0 ? <Time at={row.updatedAt} /> : 'Built in'}
                    </td>
                    <td className={styles.menu}>
                      {menu && <ResourceMenu name={row.name} href={href(row)} verbs={menu} />}
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        )}
        {pages > 1 && (
          <nav className={styles.pages} aria-label="Pages">
            <span className={styles.quiet}>
              {(page - 1) * PAGE_SIZE + 1}–{Math.min(total, page * PAGE_SIZE)} of {total}
            </span>
            <Pagination
              total={pages}
              value={page}
              onChange={(next) => url.set({ page: next === 1 ? null : String(next) })}
              getControlProps={(control) => ({ 'aria-label': `${control} page` })}
              getItemProps={(item) => ({ 'aria-label': `Page ${item}` })}
            />
          </nav>
        )}
        {props.children}
      </PageBody>
    </>
  )
}

/** The version beside the status mark. An unpublished resource shows none, because callers get none. */
export function versionsText({ status, version, publishedVersion }: Resource): string {
  if (status === 'archived') return `v${version}`
  if (publishedVersion === null) return ''
  return publishedVersion === version ? `v${version}` : `v${publishedVersion}, v${version} not published`
}
