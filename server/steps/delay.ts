import { z } from 'zod'
import { DurationText } from '../definition/asking'
import { dayExists } from '../definition/calendar'
import { StepFailure } from '../errors'
import { defineStep } from './define-step'
import { after } from './time'

/** Waits for a length of time, or until a time. */
export const delay = defineStep({
  type: 'delay',
  title: 'Delay',
  description: 'Waits for a length of time or until a given time. Nothing runs meanwhile.',
  icon: 'timer',
  group: 'flow',
  mode: 'pause',
  config: z.object({
    for: DurationText.optional().describe('How long to wait, as an ISO 8601 duration such as `PT2H`.'),
    until: z.string().max(200).optional().describe('The time to wait for, with its zone.'),
  }),
  form: {
    for: { widget: 'iso-duration', label: 'For', placeholder: 'PT2H' },
    until: {
      widget: 'template',
      label: 'Until',
      placeholder: '2027-01-31T09:00:00Z',
      help: 'A time with its zone. It may come from an earlier step.',
      advanced: true,
    },
  },
  sample: { for: 'PT1H' },
  exits: ['next', 'error'],
  defines: () => ({ fields: {}, open: false, output: { type: 'object' } }),
  check: (config) =>
    (config.for === undefined) === (config.until === undefined)
      ? [{ field: 'for', message: 'or until must be set, but not both' }]
      : [],
  takes: { for: 'string', until: 'string' },
  elapses: true,
  ask({ config, now }) {
    const dueAt = config.until === undefined ? after(now, config.for ?? '') : timeOf(config.until)
    return dueAt > now ? { signal: null, dueAt } : { output: {} }
  },
  answer: () => ({ output: {}, delta: {} }),
})

function timeOf(text: string): Date {
  const time = /T.*(Z|[+-]\d\d:?\d\d)$/.test(text) ? new Date(text) : null
  const [, ...day] = /^(\d{4})-(\d{1,2})-(\d{1,2})T/.exec(text) ?? []
  const [year = 0, month = 1, date = 1] = day.map(Number)
  if (time && Number.isFinite(time.getTime()) && dayExists(year, month, date)) return time
  throw new StepFailure('INVALID_CONFIG', `"${text}" is not a time with its zone, such as 2027-01-31T09:00:00Z`)
}
