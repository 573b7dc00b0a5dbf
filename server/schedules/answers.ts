import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { time } from '../openapi/fields'

const Tick = z.object({
  at: time('When it was due.'),
  status: z
    .enum(['started', 'skipped', 'failed'])
    .describe('`skipped`: the service was not running then. `failed`: the start was refused.'),
  runId: z.string().nullable().describe('The run it started.'),
  error: z.string().nullable().describe('Why it started none.'),
})

export const Schedule = component('Schedule', {
  id: z.string(),
  workflowId: z.string(),
  name: z.string(),
  cron: z.string(),
  timeZone: z.string(),
  catchUp: z.enum(['skip', 'once']),
  data: z.record(z.string(), AnyJson).describe('The START fields.'),
  enabled: z.boolean().describe('False while it is paused.'),
  next: z.array(z.iso.datetime()).describe('The next five times; none while it is paused.'),
  last: Tick.nullable().describe('The outcome of its last time; null before the first.'),
  createdBy: z.string(),
  updatedBy: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

export const WholeSchedule = Schedule.extend({
  ticks: z
    .array(component('ScheduleTick', Tick.shape))
    .describe('Its last 50 times, newest first. They are kept for 90 days.'),
}).register(components, { id: 'WholeSchedule' })

export const DeletedSchedule = z.object({ id: z.string(), deleted: z.literal(true) })
