import { boolean, pgTable, text } from 'drizzle-orm/pg-core'
import type { Registration } from '../../server/definition/installation'
import { json, moment } from './columns'

/** Settings and facts that all processes on this database share. One row. */
export const installation = pgTable('installation', {
  id: boolean().primaryKey().default(true),
  /** The deployment that owns this database. A preview does not touch production's. */
  deployment: text({ enum: ['production', 'preview'] }),
  /** Fingerprint of the first key in ENCRYPTION_KEY. */
  keyCheck: text(),
  /** Identifies the place where files are stored. */
  fileStore: text(),
  /** Whether tasks are announced by mail: without SMTP_URL, no mails are written. */
  mails: boolean().notNull().default(false),
  /** The last registration with the Inngest server. */
  registration: json<Registration>(),
  /** When the Inngest server last called a function. */
  calledAt: moment(),
})
