'use client'
import { Button, MultiSelect, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import type { Ref } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { SearchField } from '@/app/_ui/search-field'
import type { RunItem } from '@/server/views/runs/items'
import { choicesOf, otherChoice } from '../_versioned/choices'
import { TimeFilter } from '../time-filter'
import { FILTER_NAMES, inputOf, STATE_OPTIONS, VIA_OPTIONS } from './run-filter'
import styles from './runs.module.css'

type Set = (changes: Record<string, string | string[] | null>) => void

/** The list's filters. Every choice is in the URL and returns to the newest runs. */
export function FilterBar({
  params,
  set,
  searchRef,
  workflowId,
}: {
  params: URLSearchParams
  set: Set
  searchRef: Ref<HTMLInputElement>
  /** A single workflow's list has no workflow filter. */
  workflowId?: string | undefined
}) {
  const change = (changes: Record<string, string | string[] | null>) => set({ ...changes, cursor: null })
  const filtered = FILTER_NAMES.some((name) => params.has(name))
  return (
    <search className={styles.filters} aria-label="Filter runs">
      <SearchField
        ref={searchRef}
        aria-label="Search runs"
        placeholder={workflowId === undefined ? 'Key, run id, workflow or value' : 'Key, run id or value'}
        text={params.get('q') ?? ''}
        onSearch={(q) => change({ q })}
        className={styles.searchFilter ?? ''}
      />
      <MultiSelect
        aria-label="Status"
        placeholder={params.has('status') ? '' : 'Any status'}
        data={STATE_OPTIONS}
        value={params.getAll('status')}
        onChange={(status) => change({ status })}
        clearable
        className={styles.statusFilter ?? ''}
      />
      {workflowId === undefined && (
        <WorkflowFilter value={params.get('workflow')} onChange={(workflow) => change({ workflow })} />
      )}
      <Select
        aria-label="Started by"
        placeholder="Started by anyone"
        data={VIA_OPTIONS}
        value={params.get('trigger')}
        onChange={(trigger) => change({ trigger })}
        clearable
        className={styles.filter ?? ''}
      />
      <TimeFilter label="Started within" params={params} onChange={change} className={styles.filter ?? ''} />
      <LinkedFilters params={params} workflowId={workflowId ?? params.get('workflow')} onChange={change} />
      {filtered && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<X size={16} aria-hidden />}
          onClick={() => change(Object.fromEntries(FILTER_NAMES.map((name) => [name, null])))}
        >
          Clear filters
        </Button>
      )}
    </search>
  )
}

/** Filters that only links set: a business key, a version, and a failure's step and code. */
function LinkedFilters(props: { params: URLSearchParams; workflowId: string | null; onChange: Set }) {
  const { params, workflowId, onChange } = props
  const trpc = useTRPC()
  const failedAt = params.get('step')
  const { version } = inputOf(params)
  const ofWorkflow = workflowId === null ? {} : { workflowIds: [workflowId] }
  const { data } = useQuery({
    ...trpc.runs.list.queryOptions({
      ...ofWorkflow,
      ...(failedAt === null ? {} : { failedAt }),
      limit: 1,
    }),
    enabled: failedAt !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  // The URL has the API's version. With several workflows, each run shows its own number.
  const pinned = useQuery({
    ...trpc.runs.list.queryOptions({ ...ofWorkflow, ...(version === undefined ? {} : { version }), limit: 1 }),
    enabled: version !== undefined && workflowId !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const shown = (name: string) => {
    if (name === 'step') return data?.runs[0]?.failure?.stepName ?? failedAt
    if (name === 'version') return pinned.isLoading ? '…' : versionText(params.get(name), pinned.data?.runs[0])
    return params.get(name)
  }
  return [
    ['key', 'Key '],
    ['version', ''],
    ['step', 'Failed at '],
    ['code', 'Failed with '],
  ].map(([name = '', words]) =>
    params.get(name) ? (
      <Button
        key={name}
        variant="light"
        rightSection={<X size={14} aria-hidden />}
        aria-label={`${words}${shown(name)}: remove this filter`}
        onClick={() => onChange({ [name]: null })}
      >
        {words}
        {shown(name)}
      </Button>
    ) : null,
  )
}

function versionText(version: string | null, run: RunItem | undefined): string {
  if (!run) return `Version ${version} in the API`
  return run.versionNumber === null ? 'A draft' : `Version ${run.versionNumber}`
}

function WorkflowFilter({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.runs.workflows.queryOptions(), staleTime: 60_000 })
  const options = choicesOf(data ?? [])
  const missing = value !== null && !options.some((option) => option.value === value)
  // Runs preserve the name of a deleted workflow.
  const { data: left } = useQuery({
    ...trpc.runs.list.queryOptions({ workflowIds: [value ?? ''], limit: 1 }),
    enabled: missing && data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const [run] = left?.runs ?? []
  if (missing)
    options.push(run ? { value, label: `${run.workflowName} (deleted)` } : otherChoice(value, data !== undefined))
  return (
    <Select
      aria-label="Workflow"
      placeholder="Any workflow"
      data={options}
      value={value}
      onChange={onChange}
      searchable
      clearable
      limit={100}
      nothingFoundMessage="No workflow with that name"
      className={styles.filter ?? ''}
    />
  )
}
