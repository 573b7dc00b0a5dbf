import { sql } from 'drizzle-orm'
import { bigint, jsonb, json as jsonText, pgSequence, timestamp } from 'drizzle-orm/pg-core'

/** A moment with millisecond precision; always with a time zone. */
export const moment = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

export const json = jsonb

/** JSON as somebody wrote it: names stay in their order, as the fields of a form have to. */
export const written = jsonText

export const changes = pgSequence('changes')

/**
 * Rises with every insert and update of the row. Whoever changes a run holds its lock until the commit, so
 * within one run a higher number is a later change and none appears below one that was read.
 */
export const change = () =>
  bigint({ mode: 'number' })
    .notNull()
    .default(sql`nextval('changes')`)
    .$onUpdate(() => sql`nextval('changes')`)
