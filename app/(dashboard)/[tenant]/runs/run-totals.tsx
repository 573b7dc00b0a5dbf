'use client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { BrowseRuns } from '@/server/views/runs/browse'
import { filterOf, STATE_OPTIONS, searchesValues, VALUE_SEARCH } from './run-filter'
import styles from './runs.module.css'

const AGAIN_MS = 10_000

/**
 * The number of matching runs in total and per state. Its line is reserved from the start.
 * @param ended the number of rows that have ended since they were fetched: the totals must not contradict them
 */
export function RunTotals({ input, ended }: { input: BrowseRuns; ended: number }) {
  const trpc = useTRPC()
  const inValues = searchesValues(input.q)
  const { data, refetch } = useQuery({
    ...trpc.runs.totals.queryOptions(filterOf(input)),
    placeholderData: keepPreviousData,
    refetchInterval: inValues ? false : AGAIN_MS,
    refetchOnWindowFocus: !inValues,
  })
  useEffect(() => {
    if (ended > 0) refetch().catch(() => {})
  }, [ended, refetch])
  // Other runs may have the value too, so the total covers only the runs found.
  const note = inValues ? `. ${VALUE_SEARCH}` : ''
  return <p className={styles.totals}>{data && data.count > 0 ? `${totalsText(data)}${note}` : ' '}</p>
}

/** Such as `7 runs: 2 waiting, 5 completed`. */
export function totalsText({ count, more, states }: Totals): string {
  // Beyond the limit, only the newest were counted.
  if (more) return `More than ${count.toLocaleString('en')} runs`
  const all = `${count.toLocaleString('en')} ${count === 1 ? 'run' : 'runs'}`
  const parts = STATE_OPTIONS.flatMap(({ value, label }) => {
    const of = states[value] ?? 0
    return of > 0 ? [`${of.toLocaleString('en')} ${label.toLowerCase()}`] : []
  })
  return `${all}: ${parts.join(', ')}`
}

interface Totals {
  count: number
  more: boolean
  states: { [state in (typeof STATE_OPTIONS)[number]['value']]?: number }
}
