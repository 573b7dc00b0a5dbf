import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { processWide } from '@/db/process-wide'
import { shared as databases } from '@/db/shared'
import { scriptUsage } from '../tools/sandbox/shared-pool'
import type { Shared } from './database'
import type { Figure } from './text'

const gauge = (name: string, help: string, ...values: Figure['values'][number][]): Figure => ({
  name,
  kind: 'gauge',
  help,
  values,
})

/** The figures that all processes on the database share. Take the maximum of the processes, not the sum. */
export function sharedFigures(shared: Shared | null): Figure[] {
  const up = gauge('millrace_database_up', 'Whether the database answered.', { value: shared ? 1 : 0 })
  if (!shared) return [up]
  return [
    up,
    gauge(
      'millrace_open_runs',
      'Runs that have not ended, by status.',
      ...shared.open.map(({ status, runs }) => ({ labels: { status }, value: runs })),
    ),
    gauge('millrace_queue_jobs', 'Jobs of the embedded engine that wait to be claimed.', { value: shared.queued }),
    gauge('millrace_queue_oldest_seconds', 'How long the oldest waiting job has waited, in seconds.', {
      value: shared.queuedS,
    }),
    gauge('millrace_outbox_events', 'Events in the outbox that have not been sent yet.', { value: shared.outbox }),
    gauge('millrace_outbox_oldest_seconds', 'How long the oldest event in the outbox has waited, in seconds.', {
      value: shared.outboxS,
    }),
    gauge('millrace_webhook_messages_due', 'Messages to webhooks that are due.', { value: shared.messages }),
    gauge('millrace_webhook_oldest_seconds', 'For how long the oldest message to a webhook has been due, in seconds.', {
      value: shared.messagesS,
    }),
    gauge(
      'millrace_engine_processes',
      'Processes that execute runs with the embedded engine, heard of in the last 20 s. None on Inngest.',
      {
        value: shared.workers,
      },
    ),
    gauge(
      'millrace_sweep_age_seconds',
      'How long ago a sweep last succeeded in any process, in seconds, by sweep.',
      ...shared.sweeps.map(({ sweep, ageS }) => ({ labels: { sweep }, value: ageS })),
    ),
    gauge(
      'millrace_database_connections',
      'Connections to the database of all processes, by application and state, as the database counts them.',
      ...shared.connections.map(({ connections, ...labels }) => ({ labels, value: connections })),
    ),
  ]
}

/** This process's own figures. */
export function ownFigures(): Figure[] {
  const scripts = scriptUsage()
  const pools = [...databases().usage].map(([pool, usage]) => ({ labels: { pool }, usage }))
  const memory = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    gauge(
      'millrace_database_calls',
      'Statements and transactions of this process that are under way or wait for a connection, by pool.',
      ...pools.map(({ labels, usage }) => ({ labels, value: usage.calls })),
    ),
    gauge(
      'millrace_database_connections_max',
      'How many connections to the database this process may open, by pool.',
      ...pools.map(({ labels, usage }) => ({ labels, value: usage.most })),
    ),
    gauge('millrace_script_workers', 'Worker threads of this process that run scripts.', { value: scripts.workers }),
    gauge('millrace_scripts_waiting', 'Scripts of this process that wait for a worker thread.', {
      value: scripts.waiting,
    }),
    gauge(
      'millrace_event_loop_lag_seconds',
      'How late timers of this process were since the last reading, in seconds, by quantile.',
      ...loopLag(),
    ),
    gauge('process_resident_memory_bytes', 'Memory of this process, in bytes.', { value: memory.rss }),
    gauge('nodejs_heap_size_used_bytes', 'Memory of this process that JavaScript objects use, in bytes.', {
      value: memory.heapUsed,
    }),
    gauge('process_start_time_seconds', 'When this process started, in seconds since 1970.', {
      value: Math.round(Date.now() / 1_000 - process.uptime()),
    }),
    {
      name: 'process_cpu_seconds_total',
      kind: 'counter',
      help: 'CPU time that this process has used, in seconds.',
      values: [{ value: (user + system) / 1e6 }],
    },
  ]
}

const RESOLUTION_MS = 20

/** Measured from the first reading on, so that a process whose metrics nobody reads does not pay for it. */
function loopLag(): Figure['values'][number][] {
  const state = processWide<{ delays?: IntervalHistogram }>('loop-lag', () => ({}))
  if (!state.delays) {
    state.delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    state.delays.enable()
    return []
  }
  const { delays } = state
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3)
  // A percentile is rounded up, and may exceed the only value.
  const within = (share: number) => seconds(Math.min(delays.percentile(share), delays.max))
  const values = [
    { labels: { quantile: '0.5' }, value: within(50) },
    { labels: { quantile: '0.99' }, value: within(99) },
    { labels: { quantile: '1' }, value: seconds(delays.max) },
  ]
  delays.reset()
  return values
}
