'use client'
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { durationText, passedText } from '@/app/_ui/time-text'
import { branchOf } from '@/server/definition/branches'
import type { BranchItem } from '@/server/views/runs/branches'
import styles from './timeline.module.css'
import { Bar } from './timeline-bar'
import type { Axis } from './timeline-model'
import { Chevron, ICONS } from './timeline-row'
import type { Line } from './timeline-tree'

const PAGE = 100

type BranchLine = Extract<Line, { kind: 'branch' }>

/** A branch: its name or number, its outcome, and its time. Opens to its steps. */
export function BranchRow({
  runId,
  line,
  label,
  axis,
  began,
  idle,
  onToggle,
}: {
  runId: string
  line: BranchLine
  label: string
  axis: Axis
  began: number
  /** The list is not scrolling: rows that fly past are not worth fetching. */
  idle: boolean
  onToggle: () => void
}) {
  const trpc = useTRPC()
  const { fork, position, open } = line
  const page = Math.floor(position / PAGE)
  const read = useQuery({
    ...trpc.runs.branches.queryOptions({ runId, fork: fork.id, page }),
    enabled: line.item === null && idle,
  })
  const item = line.item ?? read.data?.find((one) => one.position === position)
  const state = item ? item.state : read.data ? 'unstarted' : null
  const { icon: Icon, word, look } = state ? STATES[state] : READING
  const from = item?.startTime ? Date.parse(item.startTime) - began : null
  const to = item?.endTime ? Date.parse(item.endTime) - began : axis.end
  const took = from === null ? '' : (item?.endTime ? durationText : passedText)(to - from)
  return (
    <button
      type="button"
      data-line
      className={styles.row}
      aria-expanded={open}
      aria-label={`${label}, ${word}${item?.error ? `, ${item.error}` : ''}${took && `, ${took}`}`}
      onClick={onToggle}
    >
      <span className={`${styles.name} ${styles.inset}`}>
        <Chevron open={open} />
        <Icon size={15} className={styles[look]} aria-hidden />
        <span className={styles.branchText}>{label}</span>
        {item?.error && (
          <span className={styles.quietText} title={item.error}>
            {item.error}
          </span>
        )}
      </span>
      <span className={styles.took}>{took}</span>
      <span className={styles.track}>
        {from !== null && <Bar axis={axis} from={from} to={to} kind="branch" failed={state === 'failed'} />}
      </span>
    </button>
  )
}

const STATES = {
  ...Object.fromEntries(
    (['queued', 'running', 'completed', 'failed'] as const).map((state) => [state, { ...ICONS[state], look: state }]),
  ),
  waiting: { ...ICONS.paused, look: 'paused' },
  stopped: { ...ICONS.stopped, look: 'queued' },
  unstarted: { ...ICONS.queued, word: 'did not start', look: 'queued' },
} as Record<BranchItem['state'] | 'unstarted', { icon: typeof ICONS.queued.icon; word: string; look: string }>
const READING = { icon: ICONS.queued.icon, word: 'reading', look: 'queued' }

/** The number of items and their outcomes, with a field to jump to one of them. */
export function CountsRow({
  line: { fork, name },
  goTo,
}: {
  line: Extract<Line, { kind: 'counts' }>
  goTo: (key: string) => void
}) {
  const [number, setNumber] = useState('')
  const many = (count: number) => count.toLocaleString('en')
  const left = fork.total - fork.succeeded - fork.failed
  return (
    <div className={styles.counts}>
      <span className={styles.quiet}>
        {many(fork.total)} {fork.total === 1 ? 'item' : 'items'}
        {fork.succeeded > 0 && `, ${many(fork.succeeded)} completed`}
        {fork.failed > 0 && <b className={styles.failed}>, {many(fork.failed)} failed</b>}
        {left > 0 && `, ${many(left)} unfinished`}
      </span>
      {fork.total > 20 && (
        <TextInput
          data-line
          size="xs"
          className={styles.jump ?? ''}
          aria-label={`Go to an item of ${name}`}
          placeholder="Go to item"
          inputMode="numeric"
          value={number}
          onChange={(event) => setNumber(event.currentTarget.value.replace(/\D/g, '').slice(0, 6))}
          onKeyDown={(event) => {
            const wanted = Math.min(Number(number), fork.total - 1)
            if (event.key === 'Enter' && number !== '') goTo(branchOf(fork.id, String(wanted)))
          }}
        />
      )}
    </div>
  )
}

export function MoreRow({ left, onMore }: { left: number; onMore: () => void }) {
  return (
    <div className={styles.counts}>
      <Button data-line variant="subtle" size="compact-xs" onClick={onMore}>
        Show more failed branches ({left.toLocaleString('en')} left)
      </Button>
    </div>
  )
}
