import { openDatabase, withDeadline } from '@/db/index'
import { migrate } from '@/db/migrate'
import { reasonOf, whenAvailable } from '@/db/wait'
import { env } from '@/server/env'
import { firstBoot } from '@/server/tenants/boot/seed'
import { loadDotEnv } from './dot-env'
import { print, printError } from './print'

// `npm run db:migrate`: a release's step before its processes start. It needs only the database's address, not the key,
// and prints no secret, because many people read build logs.

const SEED_MS = 60_000

async function main(): Promise<number> {
  loadDotEnv(false)
  const settings = env()
  const { directUrl: url, deployment, VERCEL } = settings
  if (!url) {
    if (VERCEL) print('No DATABASE_URL, so nothing was migrated.')
    else printError('DATABASE_URL is missing. The embedded database is migrated by npm start.')
    return VERCEL ? 0 : 1
  }
  const production = process.argv.includes('--production')
  const onWait = (reason: string) => printError(`waiting for the database (${reason})`)
  await whenAvailable(() => migrate(url, production ? 'production' : deployment), { onWait })
  print('The database is up to date.')
  const database = openDatabase(url, { max: 2 })
  try {
    const booted = await withDeadline(SEED_MS, () => firstBoot(database.db, settings, { inventKey: false }))
    if (booted.created) {
      const key = booted.apiKey ? ', the API key of BOOTSTRAP_API_KEY' : ''
      print(`Created the first workspace ${booted.tenantId}${key} and the samples. Open /setup to become its owner.`)
    }
  } finally {
    await database.close()
  }
  return 0
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    printError(reasonOf(error).replace(/([^.])$/, '$1.'))
    process.exit(1)
  },
)
