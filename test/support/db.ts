import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { connect, type Db, type Sql, sqlState } from '@/db/index'
import { asAdmin } from '@/db/postgres/probe'
import { databaseUrl } from './postgres'

export interface FreshDatabase {
  url: string
  sql: Sql
  db: Db
  /** Ends every connection to it. The database itself goes with its server; see `SETTINGS` in postgres.ts. */
  close(): Promise<void>
}

/** A migrated database for the caller alone, copied from the run's template. */
export async function freshDatabase(options: { max?: number } = {}): Promise<FreshDatabase> {
  const { adminUrl, template } = inject('testServer')
  const name = `t_${randomBytes(8).toString('hex')}`
  await copyTemplate(adminUrl, template, name)
  const url = databaseUrl(adminUrl, name)
  const { sql, db, close } = connect(url, {
    ...{ max: 5, applicationName: 'millrace-test', deadlineMs: 60_000 },
    ...options,
  })
  return {
    url,
    sql,
    db,
    async close() {
      await close()
      await asAdmin(adminUrl, async (admin) => {
        await admin.unsafe(`alter database ${name} allow_connections false`)
        await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      })
    },
  }
}

async function copyTemplate(adminUrl: string, template: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await asAdmin(adminUrl, (admin) => admin.unsafe(`create database ${name} template ${template} owner millrace`))
      return
    } catch (error) {
      // Postgres refuses to copy a database while another session copies it.
      if (sqlState(error) !== '55006' || attempt === 50) throw error
      await sleep(20 + Math.random() * 80)
    }
  }
}
