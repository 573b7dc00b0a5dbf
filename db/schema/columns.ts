import { sql } from 'drizzle-orm'
import { bigint, integer, jsonb, json as jsonText, pgSequence, text, timestamp } from 'drizzle-orm/pg-core'
import type { JsonLike } from '../../server/definition/json'

/** A moment with millisecond precision; always with a time zone. */
export const moment = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

/** JSON of a type that has its name in the language. */
export const json = <T extends JsonLike>() => jsonb().$type<T>()

/** JSON as somebody wrote it: names stay in their order, as the fields of a form have to. */
export const written = <T extends JsonLike>() => jsonText().$type<T>()

export const role = () => text({ enum: ['viewer', 'operator', 'editor', 'admin', 'owner'] })

/** What workflows, agents and tools have in common: how each stands; what it says lies in its versions. */
export const resource = () => ({
  name: text().notNull(),
  description: text().notNull(),
  status: text({ enum: ['draft', 'published', 'archived'] }).notNull(),
  /** Grows by one with each saved change, also when a save folds the one before into itself. */
  version: integer().notNull(),
  publishedVersion: integer(),
  publishedAt: moment(),
  archivedAt: moment(),
  createdBy: text().notNull(),
  updatedBy: text().notNull(),
  createdAt: moment().notNull().defaultNow(),
  updatedAt: moment().notNull().defaultNow(),
})

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
