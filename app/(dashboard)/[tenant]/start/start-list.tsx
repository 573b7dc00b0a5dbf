'use client'
import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ArrowRight, CirclePlay, SearchX } from 'lucide-react'
import { useRef } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { SearchField } from '@/app/_ui/search-field'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../tenant-context'
import { ListPager } from '../workflows/list-pager'
import { ListSkeleton } from '../workflows/list-skeleton'
import styles from './start.module.css'
import { startQuery } from './start-query'

/** The workflows that the user may start, with their descriptions. */
export function StartList() {
  const trpc = useTRPC()
  const { get, set } = useUrlState()
  const query = startQuery(get)
  const list = useQuery({ ...trpc.workflows.startable.queryOptions(query), placeholderData: keepPreviousData })
  const search = useRef<HTMLInputElement>(null)
  useSingleKeys({ '/': () => search.current?.focus() })
  const items = list.data?.items ?? []
  return (
    <>
      <PageHeader title="Start" />
      <PageBody>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <ListSkeleton />}
        {list.data && (list.data.total > 0 || query.q) && (
          <SearchField
            ref={search}
            aria-label="Search what you may start"
            placeholder="Search by name or description"
            text={query.q ?? ''}
            onSearch={(q) => set({ q, page: null })}
            className={styles.search ?? ''}
          />
        )}
        {items.length > 0 && (
          <ul className={`${styles.cards} ${list.isPlaceholderData ? styles.stale : ''}`} aria-label="Workflows">
            {items.map((item) => (
              <li key={item.id}>
                <StartCard {...item} />
              </li>
            ))}
          </ul>
        )}
        {list.data && items.length > 0 && <ListPager {...list.data} shown={items.length} />}
        {list.data && items.length === 0 && <Nothing q={query.q} onClear={() => set({ q: null, page: null })} />}
      </PageBody>
    </>
  )
}

function StartCard({ id, name, description }: { id: string; name: string; description: string }) {
  const { path } = useTenant()
  return (
    <Link href={path(`/start/${encodeURIComponent(id)}`)} className={styles.card}>
      <span className={styles.name}>{name}</span>
      <ArrowRight size={16} aria-hidden />
      {description && <span className={styles.about}>{description}</span>}
    </Link>
  )
}

function Nothing({ q, onClear }: { q: string | undefined; onClear: () => void }) {
  const { may, path } = useTenant()
  if (q) {
    return (
      <EmptyState
        icon={SearchX}
        title={`Nothing matches “${q}”`}
        actions={
          <Button variant="default" onClick={onClear}>
            Clear the search
          </Button>
        }
      />
    )
  }
  return (
    <EmptyState
      icon={CirclePlay}
      title="There is nothing to start yet"
      actions={
        may('workflow:publish') && (
          <Button variant="default" component={Link} href={path('/workflows')}>
            Go to workflows
          </Button>
        )
      }
    >
      Workflows appear here once they are published.
    </EmptyState>
  )
}
