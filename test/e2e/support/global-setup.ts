import { databaseUrl, startTestServer } from '@/test/support/postgres'
import { startService } from '@/test/support/service'

/**
 * Starts the built product on a server that forgets, once for all specs; each test makes workspaces of its own.
 * With BASE_URL, DATABASE_URL and ENCRYPTION_KEY they run against a service that is there.
 */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env.BASE_URL) return async () => {}
  const server = await startTestServer()
  try {
    const settings = {
      DATABASE_URL: databaseUrl(server.adminUrl, server.template),
      ENCRYPTION_KEY: 'e2'.repeat(32),
      // No limits: all specs come from one address.
      MILLRACE_EMBEDDED: '1',
      RATE_LIMIT_FAILURES: '1000000',
      // Servers of the tests' own.
      ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      LOG_LEVEL: 'warn',
    }
    const service = await startService({ env: settings })
    Object.assign(process.env, settings, { BASE_URL: service.url.replace('127.0.0.1', 'localhost') })
    return async () => {
      await service.stop()
      await server.stop()
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}
