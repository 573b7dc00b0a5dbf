import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Answer } from '../api'
import { type FreshDatabase, freshDatabase } from '../db'
import { ensureBuilt, temporaryDir } from '../service'
import { deployTo } from './deploy'
import { type Deployment, openDeployment } from './gateway'
import { type InngestServer, startInngest } from './inngest'
import { reachInngest } from './real-inngest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/** The product as a preview on a serverless platform. */
export interface Preview extends Deployment {
  database: FreshDatabase
  inngest: InngestServer
  apiKey: string
  env: Record<string, string>
  /** The output of the release step. */
  released: string
  call(method: string, path: string, body?: object): Promise<Answer>
}

export const SETUP_TOKEN = 'setup-token-of-the-preview'

/** Runs an admin command as on an operator's own machine, with the settings of the preview. */
export async function runCommand({ env }: Preview, ...args: string[]): Promise<string> {
  return run('cli/admin.ts', args, env)
}

async function run(file: string, args: string[], env: Record<string, string>): Promise<string> {
  const command = ['--import', 'tsx', '--conditions=react-server', file, ...args]
  const only = { PATH: process.env.PATH, HOME: process.env.HOME, ...env } as unknown as NodeJS.ProcessEnv
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, env: only })
  return stdout + stderr
}

/** Runs `npm run db:migrate` as the build command of `vercel.json` does. @throws its output if it fails */
export function release(env: Record<string, string>): Promise<string> {
  return run('cli/migrate.ts', [], env)
}

/** The real Inngest server that the environment names, if it does. */
function realInngest() {
  const { INNGEST_BASE_URL, INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY } = process.env
  return INNGEST_BASE_URL && INNGEST_EVENT_KEY && INNGEST_SIGNING_KEY
    ? { INNGEST_BASE_URL, INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY }
    : null
}

export const onRealInngest = realInngest() !== null

/** Deploys the build with a database of its own, and an Inngest server of its own unless a real one is named. */
export async function startPreview(settings: Record<string, string> = {}): Promise<Preview> {
  await ensureBuilt()
  const home = temporaryDir()
  const folder = join(home, 'deployed')
  deployTo(folder, ROOT)
  const database = await freshDatabase()
  const real = realInngest()
  const inngest = real ? await reachInngest(real) : await startInngest()
  const apiKey = `sk_${randomBytes(16).toString('hex')}`
  const env = {
    VERCEL: '1',
    VERCEL_ENV: 'preview',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: '07'.repeat(32),
    SETUP_TOKEN,
    BOOTSTRAP_TENANT_ID: 'ten_preview',
    BOOTSTRAP_API_KEY: apiKey,
    INNGEST_BASE_URL: inngest.url,
    INNGEST_EVENT_KEY: inngest.eventKey,
    INNGEST_SIGNING_KEY: inngest.signingKey,
    ...settings,
  }
  // The platform runs these before it deploys.
  const released = await release(env)
  const deployment = await openDeployment(folder, home, (host) => ({
    ...env,
    VERCEL_URL: host,
    VERCEL_BRANCH_URL: host,
    // The platform's own address uses https, which nothing on this machine serves.
    PUBLIC_URL: `http://${host}`,
  }))
  return {
    ...deployment,
    database,
    inngest,
    apiKey,
    env,
    released,
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
      await database.close()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Reads from outside the deployment, so that reading does not wake it. */
export async function seen(look: () => Promise<boolean>, timeoutMs = 60_000): Promise<boolean> {
  for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(50)) if (await look()) return true
  return false
}
