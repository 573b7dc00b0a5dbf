import { join } from 'node:path'
import postgres from 'postgres'

/** The port in a Unix socket's file name; nothing listens on it over TCP. */
export const SOCKET_PORT = 5432

/** The Unix socket of a server, given its directory. */
export function socketFile(directory: string, port: number | string = SOCKET_PORT): string {
  return join(directory, `.s.PGSQL.${port}`)
}

/** The connection string of a server whose socket is in `directory`. */
export function socketUrl(user: string, database: string, directory: string): string {
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(directory)}`
}

/**
 * Opens a driver on a connection string. As in libpq, `?host=/a/directory` names a Unix socket, so that one string can
 * be passed to child processes.
 */
export function openDriver(url: string, options: Parameters<typeof postgres>[1] & { max: number }): postgres.Sql {
  const parsed = new URL(url)
  const directory = parsed.searchParams.get('host')
  const common = { onnotice: ignore, types: { json }, ...options }
  if (!directory?.startsWith('/')) return postgres(url, common)
  // The driver would send an unknown query parameter to the server as a setting.
  parsed.searchParams.delete('host')
  const path = socketFile(directory, parsed.port || SOCKET_PORT)
  return postgres(parsed.href, { ...common, host: directory, path })
}

// Drizzle passes JSON as encoded text; raw statements pass values. So strings stay as they are and everything else is
// encoded. `sql.json()` does its own encoding (guard.ts), so there a string value stays a string.
const json = {
  to: 114,
  from: [114, 3802],
  serialize: (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: (text: string): unknown => JSON.parse(text),
}

function ignore(): void {}
