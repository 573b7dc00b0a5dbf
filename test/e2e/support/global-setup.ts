import { databaseUrl, startTestServer } from '@/test/support/postgres'
import { startService } from '@/test/support/service'

/**
 * Starts the built product on a throwaway server, once for all specs. Each test makes its own workspaces. With
 * BASE_URL, DATABASE_URL and ENCRYPTION_KEY, the specs use an existing service instead.
 */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env.BASE_URL) return async () => {}
  const server = await startTestServer()
  try {
    const settings = {
      DATABASE_URL: databaseUrl(server.adminUrl, server.template),
      ENCRYPTION_KEY: 'e2'.repeat(32),
      // No rate limits, because all specs share one address.
      MILLRACE_EMBEDDED: '1',
      RATE_LIMIT_FAILURES: '1000000',
      // For the tests' own servers.
      ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      // Long enough for specs that undo an answer, short enough for the others.
      ANSWER_UNDO_MS: '8000',
      // One spec makes this workspace.
      OPERATOR_TENANT_ID: 'ten_operators',
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
