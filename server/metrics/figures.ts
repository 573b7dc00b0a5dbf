import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { shared as databases } from '@/db/shared'
import { processWide } from '../process'
import { scriptUsage } from '../tools/sandbox/shared-pool'
import type { Shared } from './database'
import type { Figure } from './text'

const gauge = (name: string, help: string, ...values: Figure['values'][number][]): Figure => ({
  name,
  kind: 'gauge',
  help,
  values,
})

/** What all processes on the database share. Take the maximum of the processes, not the sum. */
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
    gauge('millrace_queue_oldest_seconds', 'How long the oldest of them has waited.', { value: shared.queuedS }),
    gauge('millrace_outbox_events', 'Events that have not left yet.', { value: shared.outbox }),
    gauge('millrace_outbox_oldest_seconds', 'How long the oldest of them has waited.', { value: shared.outboxS }),
    gauge('millrace_webhook_messages_due', 'Messages to webhooks that are due.', { value: shared.messages }),
    gauge('millrace_webhook_oldest_seconds', 'For how long the oldest of them has been due.', {
      value: shared.messagesS,
    }),
    gauge('millrace_engine_processes', 'Processes of the embedded engine that were heard of in the last 20 s.', {
      value: shared.workers,
    }),
    gauge(
      'millrace_database_connections',
      'Connections of all processes, as the database counts them.',
      ...shared.connections.map(({ connections, ...labels }) => ({ labels, value: connections })),
    ),
  ]
}

/** What only this process knows. */
export function ownFigures(): Figure[] {
  const scripts = scriptUsage()
  const pools = [...databases.usage].map(([pool, usage]) => ({ labels: { pool }, usage }))
  const memory = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    gauge(
      'millrace_database_calls',
      'Statements and transactions of this process that are under way or wait for a connection.',
      ...pools.map(({ labels, usage }) => ({ labels, value: usage.calls })),
    ),
    gauge(
      'millrace_database_connections_max',
      'How many connections this process may open.',
      ...pools.map(({ labels, usage }) => ({ labels, value: usage.most })),
    ),
    gauge('millrace_script_workers', 'Worker threads for scripts.', { value: scripts.workers }),
    gauge('millrace_scripts_waiting', 'Scripts that wait for a worker thread.', { value: scripts.waiting }),
    gauge('millrace_event_loop_lag_seconds', 'How late timers were since the last reading.', ...loopLag()),
    gauge('process_resident_memory_bytes', 'Memory of this process.', { value: memory.rss }),
    gauge('nodejs_heap_size_used_bytes', 'Of it, what JavaScript uses.', { value: memory.heapUsed }),
    gauge('process_start_time_seconds', 'When this process started.', {
      value: Math.round(Date.now() / 1_000 - process.uptime()),
    }),
    {
      name: 'process_cpu_seconds_total',
      kind: 'counter',
      help: 'CPU time of this process.',
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
  const values = [
    { labels: { quantile: '0.5' }, value: seconds(delays.percentile(50)) },
    { labels: { quantile: '0.99' }, value: seconds(delays.percentile(99)) },
    { labels: { quantile: '1' }, value: seconds(delays.max) },
  ]
  delays.reset()
  return values
}
