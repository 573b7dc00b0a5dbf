import { boolean, pgTable, text } from 'drizzle-orm/pg-core'
import type { Registration } from '../../server/definition/installation'
import { json, moment } from './columns'

/** What the processes on this database must have in common, and what they know together. One row. */
export const installation = pgTable('installation', {
  id: boolean().primaryKey().default(true),
  /** Whose database this is. A preview leaves production's alone. */
  deployment: text({ enum: ['production', 'preview'] }),
  /** Fingerprint of the first key in ENCRYPTION_KEY. */
  keyCheck: text(),
  /** Names the place where files are stored. */
  fileStore: text(),
  /** Whether tasks are told by e-mail: without SMTP_URL, no mails are written. */
  mails: boolean().notNull().default(false),
  /** The last registration with the Inngest server. */
  registration: json<Registration>(),
  /** When the Inngest server last called a function. */
  calledAt: moment(),
})
