import { pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

export const tenants = pgTable('tenants', {
  id: text().primaryKey(),
  name: text().notNull(),
  createdAt: moment().notNull().defaultNow(),
})
