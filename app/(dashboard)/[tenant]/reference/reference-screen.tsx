'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { SearchField } from '@/app/_ui/search-field'
import { useListKeys } from '@/app/_ui/use-list-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import { ListSkeleton } from '../_versioned/list-skeleton'
import { found, groupsOf, nameOf } from './entries'
import { EntryList, MAX_SHOWN } from './entry-list'
import { Part } from './part'
import styles from './reference.module.css'
import { Welcome } from './welcome'

/** The workspace's own API reference: a list of objects and calls, and the chosen entry's calls. */
export function ReferenceScreen() {
  const trpc = useTRPC()
  const url = useUrlState()
  const [search, setSearch] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const reference = useQuery(trpc.reference.open.queryOptions())
  const groups = useMemo(() => (reference.data ? groupsOf(reference.data) : []), [reference.data])
  const left = useMemo(() => found(groups, search), [groups, search])
  const shown = useMemo(() => left.flatMap(({ entries }) => entries.slice(0, MAX_SHOWN)), [left])
  const chosen = url.get('show')
  const open = (id: string) => url.set({ show: id }, { push: true })
  const marked = useListKeys({
    count: shown.length,
    open: (index) => {
      const entry = shown[index]
      if (entry) open(entry.id)
    },
    search: () => field.current?.focus(),
  })
  return (
    <>
      <PageHeader
        title="API reference"
        meta="Every call of the API, and those of your published workflows, agents and tools with their types."
      />
      <PageBody>
        {reference.error ? (
          <ErrorState error={reference.error} onRetry={() => reference.refetch()} />
        ) : !reference.data ? (
          <ListSkeleton />
        ) : (
          <div className={styles.columns}>
            <div className={styles.side} data-chosen={chosen !== ''}>
              <SearchField
                ref={field}
                text={search}
                onSearch={setSearch}
                aria-label="Search the reference"
                placeholder="Search: a path, a workflow, a verb"
              />
              <EntryList
                groups={left}
                chosen={chosen}
                marked={shown[marked]?.id ?? null}
                search={search}
                onOpen={open}
              />
            </div>
            <section className={styles.main} aria-label="Reference">
              {chosen === '' ? (
                <Welcome />
              ) : (
                <Part key={chosen} id={chosen} name={nameOf(groups, chosen)} onClose={() => url.set({ show: null })} />
              )}
            </section>
          </div>
        )}
      </PageBody>
    </>
  )
}
