import { jsonb, timestamp } from 'drizzle-orm/pg-core'

/** A moment with millisecond precision; always with a time zone. */
export const moment = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

export const json = jsonb
