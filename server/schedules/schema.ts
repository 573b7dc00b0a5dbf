import { z } from 'zod'
import { CronError, isTimeZone, parseCron } from '@/lib/cron'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { STORABLE } from '../query/storable-text'

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

const settings = {
  name: Name.describe('For people.'),
  cron: CronText.describe(
    'Five fields: minute, hour, day, month, weekday; with lists, ranges, steps and English names. If both day fields are restricted, either may match.',
  ),
  timeZone: TimeZone.describe(
    'The time zone of the fields: a name of the IANA database. Nine o’clock stays nine o’clock: a time that clocks skip comes an hour later, one that they repeat counts once, and a schedule for every hour goes on at equal intervals.',
  ),
  catchUp: z
    .enum(['skip', 'once'])
    .describe(
      'What happens to times that passed more than ten minutes ago while the service was not running: `skip` drops them, `once` starts one run for all of them.',
    ),
  data: z.record(z.string(), AnyJson).describe('The START fields of each run.'),
  enabled: z.boolean().describe('False pauses it.'),
}

export const CreateSchedule = component('CreateSchedule', {
  ...settings,
  timeZone: settings.timeZone.default('UTC'),
  catchUp: settings.catchUp.default('skip'),
  data: settings.data.default({}),
  enabled: settings.enabled.default(true),
})

export const UpdateSchedule = z.object(settings).partial().register(components, { id: 'UpdateSchedule' })
