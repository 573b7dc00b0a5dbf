import { pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/** When each sweep last succeeded, in any process. */
export const sweeps = pgTable('sweeps', {
  name: text().primaryKey(),
  succeededAt: moment().notNull(),
})
