import type { RouterOutput } from '@/app/_trpc/types'
import { durationText } from '@/app/_ui/time-text'

export type Service = RouterOutput['service']['read']
export type Figure = Service['figures'][number]

interface Words {
  name: string
  /** The present figure, in a few words. */
  value: (figure: Figure) => string
  meaning: string
  /** What to do when it is bad. */
  remedy: string
}

const many = (count: number, one: string, more: string) => `${count.toLocaleString('en')} ${count === 1 ? one : more}`
const waiting = (one: string, more: string) => (figure: Figure) => {
  if (figure.count === 0) return 'Nothing waits'
  const oldest = figure.oldestS === null ? '' : `, the oldest for ${durationText(figure.oldestS * 1_000)}`
  return `${many(figure.count, one, more)} waiting${oldest}`
}

export const FIGURES: Record<Figure['id'], Words> = {
  engine: {
    name: 'Engine',
    value: ({ count }) =>
      count === 0 ? 'No process executes runs' : `${many(count, 'process', 'processes')} executing runs`,
    meaning: 'Without one, starts are accepted and runs wait.',
    remedy: 'Start the service with npm start, or a worker with npm run worker if ENGINE=off.',
  },
  queue: {
    name: 'Queue',
    value: waiting('job', 'jobs'),
    meaning: 'Steps that are due and that no process has taken yet. A short wait is normal under load.',
    remedy:
      'There is more work than the processes do: add workers (npm run worker), or look for what makes steps slow.',
  },
  outbox: {
    name: 'Outbox',
    value: waiting('event', 'events'),
    meaning: 'Events on their way to the engine. They leave within a second.',
    remedy: 'The engine takes no events. The log of the service says why.',
  },
  webhooks: {
    name: 'Webhooks',
    value: waiting('message', 'messages'),
    meaning: 'Messages that are due to endpoints of webhooks. Those that wait for a retry do not count.',
    remedy: 'Deliveries do not keep up: some endpoints are slow, or no process executes runs.',
  },
  sweeps: {
    name: 'Sweeps',
    value: ({ oldestS }) => (oldestS === null ? 'None yet' : `Runs were swept ${durationText(oldestS * 1_000)} ago`),
    meaning: 'Every minute a sweep restarts what stalled, because an event was lost or a process died.',
    remedy: 'Look for “sweep” in the log. Until sweeps work again, what stalls stays so.',
  },
  database: {
    name: 'Database calls',
    value: ({ count, of }) => `${count} under way or waiting, ${of ?? 0} connections`,
    meaning: 'Of the process that answers this page. Calls wait when all of its connections are busy.',
    remedy: 'Raise DATABASE_POOL_MAX if the database has room, or find out what makes it slow.',
  },
  scripts: {
    name: 'Scripts',
    value: ({ count, of }) => `${many(count, 'script', 'scripts')} waiting, ${many(of ?? 0, 'thread', 'threads')}`,
    meaning: 'Of the process that answers this page. Scripts wait when all threads are busy; idle threads end.',
    remedy: 'Scripts need more processors: add workers, or make the scripts shorter.',
  },
}

/** On Inngest, the Inngest server is the engine. */
export const INNGEST: Words = {
  name: 'Inngest',
  value: ({ state }) => (state === 'good' ? 'Calls the functions' : 'Does not carry runs on'),
  meaning: 'Its server has the queue, and calls the functions of this service.',
  remedy: 'To register the functions again: npm run -s admin -- inngest sync.',
}

export function wordsOf({ id }: Figure, engine: Service['engine']): Words {
  return id === 'engine' && engine === 'inngest' ? INNGEST : FIGURES[id]
}
