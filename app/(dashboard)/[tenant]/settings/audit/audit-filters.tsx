'use client'
import { Button, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { AUDIT_ACTIONS, AUDIT_THINGS } from '@/server/definition/audit'
import { otherChoice } from '../../_versioned/choices'
import { TimeFilter } from '../../time-filter'
import styles from './audit.module.css'
import { FILTER_NAMES } from './audit-filter'
import { ACTORS, actionWords, THINGS, thingOf } from './audit-words'

type Change = (changes: Record<string, string | null>) => void

/** One field filters by a kind of thing or by one of its actions. */
const WHAT = AUDIT_THINGS.map((kind) => ({
  group: THINGS[kind],
  items: [
    { value: kind, label: `${THINGS[kind]}: anything` },
    ...AUDIT_ACTIONS.filter((action) => thingOf(action) === kind).map((action) => ({
      value: action,
      label: actionWords(action),
    })),
  ],
}))

/** The log's filters. Every choice is in the URL and returns to the newest entries. */
export function AuditFilters({ params, change }: { params: URLSearchParams; change: Change }) {
  const thing = params.get('thing')
  return (
    <search className={styles.filters} aria-label="Filter the audit log">
      <ActorFilter value={params.get('actor')} onChange={(actor) => change({ actor })} />
      <Select
        aria-label="Action"
        placeholder="Any action"
        data={WHAT}
        value={params.get('action') ?? params.get('kind')}
        onChange={(value) => {
          const kind = AUDIT_THINGS.find((one) => one === value) ?? null
          change({ kind, action: kind ? null : value })
        }}
        searchable
        clearable
        nothingFoundMessage="No such action"
        className={styles.wide ?? ''}
      />
      <TimeFilter label="Time" params={params} onChange={change} className={styles.filter ?? ''} />
      {thing && (
        <Button
          variant="light"
          rightSection={<X size={14} aria-hidden />}
          aria-label={`Only ${thing}: remove this filter`}
          onClick={() => change({ thing: null })}
        >
          <span className={styles.id}>{thing}</span>
        </Button>
      )}
      {FILTER_NAMES.some((name) => params.has(name)) && (
        <Button
          variant="subtle"
          color="gray"
          className={styles.clear ?? ''}
          leftSection={<X size={16} aria-hidden />}
          onClick={() => change(Object.fromEntries(FILTER_NAMES.map((name) => [name, null])))}
        >
          Clear filters
        </Button>
      )}
    </search>
  )
}

function ActorFilter({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.audit.actors.queryOptions(), staleTime: 60_000 })
  const options = (data ?? []).map(({ id, kind, name }) => ({
    value: id,
    label: kind === 'user' ? name : `${name} (${ACTORS[kind]})`,
  }))
  if (value && !options.some((option) => option.value === value)) options.push(otherChoice(value, data !== undefined))
  return (
    <Select
      aria-label="Who"
      placeholder="Anyone"
      data={options}
      value={value}
      onChange={onChange}
      searchable
      clearable
      limit={100}
      nothingFoundMessage="Nobody with that name"
      className={styles.filter ?? ''}
    />
  )
}
