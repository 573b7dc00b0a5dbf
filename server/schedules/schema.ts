import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { CronError, isTimeZone, parseCron } from '../definition/cron'
import { STORABLE } from '../storable-text'

const CronText = z
  .string()
  .max(200)
  .superRefine((source, ctx) => {
    try {
      parseCron(source)
    } catch (err) {
      if (!(err instanceof CronError)) throw err
      ctx.addIssue({ code: 'custom', message: err.message })
    }
  })
  .transform((source) => source.trim().replace(/\s+/g, ' '))

const TimeZone = z.string().max(100).refine(isTimeZone, 'must be a time zone such as Europe/Berlin, or UTC')

const Name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine(...STORABLE)

const CatchUp = z.enum(['skip', 'once'])
const Data = z.record(z.string(), AnyJson)

export const CreateSchedule = component('CreateSchedule', {
  name: Name,
  cron: CronText,
  timeZone: TimeZone.default('UTC'),
  catchUp: CatchUp.default('skip'),
  data: Data.default({}),
  enabled: z.boolean().default(true),
})

export const UpdateSchedule = component('UpdateSchedule', {
  name: Name.optional(),
  cron: CronText.optional(),
  timeZone: TimeZone.optional(),
  catchUp: CatchUp.optional(),
  data: Data.optional(),
  enabled: z.boolean().optional(),
})
