import { sql } from 'drizzle-orm'
import { bigint, integer, jsonb, json as jsonText, pgSequence, text, timestamp } from 'drizzle-orm/pg-core'
import type { JsonLike } from '../../server/definition/json'

/** A moment with millisecond precision and a time zone. */
export const moment = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

/** JSON with a TypeScript type. */
export const json = <T extends JsonLike>() => jsonb().$type<T>()

/** JSON as the user wrote it, with its key order, which the fields of a form require. */
export const written = <T extends JsonLike>() => jsonText().$type<T>()

export const role = () => text({ enum: ['viewer', 'operator', 'editor', 'admin', 'owner'] })

/** Columns shared by workflows, agents and tools. They contain the current state; versions contain the content. */
export const resource = () => ({
  name: text().notNull(),
  description: text().notNull(),
  status: text({ enum: ['draft', 'published', 'archived'] }).notNull(),
  /** Grows by one with each saved change, even when a save is folded into the previous one. */
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
 * Rises with every insert and update of the row. Every change of a run holds the run's lock until it commits, so within
 * a run a higher number is a later change, and none appears below one that was already read.
 */
export const change = () =>
  bigint({ mode: 'number' })
    .notNull()
    .default(sql`nextval('changes')`)
    .$onUpdate(() => sql`nextval('changes')`)
