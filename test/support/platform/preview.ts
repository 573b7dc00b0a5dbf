import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { firstBoot } from '@/server/tenants/boot/seed'
import type { Answer } from '../api'
import { type FreshDatabase, freshDatabase } from '../db'
import { ensureBuilt, temporaryDir } from '../service'
import { deployTo } from './deploy'
import { type Deployment, openDeployment } from './gateway'
import { type InngestServer, startInngest } from './inngest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/** The product as a preview on a serverless platform. */
export interface Preview extends Deployment {
  database: FreshDatabase
  inngest: InngestServer
  call(method: string, path: string, body?: object): Promise<Answer>
}

/** Deploys the build with a database and an Inngest server of its own. */
export async function startPreview(settings: Record<string, string> = {}): Promise<Preview> {
  await ensureBuilt()
  const home = temporaryDir()
  const folder = join(home, 'deployed')
  deployTo(folder, ROOT)
  const database = await freshDatabase()
  const inngest = await startInngest()
  const apiKey = `sk_${randomBytes(16).toString('hex')}`
  await firstBoot(database.db, { BOOTSTRAP_TENANT_ID: 'ten_preview', BOOTSTRAP_API_KEY: apiKey })
  const deployment = await openDeployment(folder, home, (host) => ({
    VERCEL: '1',
    VERCEL_ENV: 'preview',
    VERCEL_URL: host,
    VERCEL_BRANCH_URL: host,
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: '07'.repeat(32),
    INNGEST_BASE_URL: inngest.url,
    INNGEST_EVENT_KEY: inngest.eventKey,
    INNGEST_SIGNING_KEY: inngest.signingKey,
    LOG_LEVEL: 'info',
    ...settings,
  }))
  return {
    ...deployment,
    database,
    inngest,
    async call(method, path, body) {
      const response = await fetch(`${deployment.url}${path}`, {
        method,
        headers: { 'x-api-key': apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith('{') ? JSON.parse(text) : text,
      }
    },
    async close() {
      await inngest.stop()
      await deployment.close()
      await database.drop()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Looks from outside the deployment, so that looking does not wake it. */
export async function seen(look: () => Promise<boolean>, timeoutMs = 30_000): Promise<boolean> {
  for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(50)) if (await look()) return true
  return false
}
