import postgres from 'postgres'

/** The port in a Unix socket's file name; nothing listens on it over TCP. */
export const SOCKET_PORT = 5432

/** The connection string for a server that listens on a socket in `directory`. */
export function socketUrl(user: string, database: string, directory: string): string {
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(directory)}`
}

/**
 * Opens a driver on a connection string. Beyond what the driver takes, `?host=/a/directory` names a Unix
 * socket, as libpq reads it, so that one string can be handed to child processes.
 */
export function openDriver(url: string, options: Parameters<typeof postgres>[1] & { max: number }): postgres.Sql {
  const parsed = new URL(url)
  const directory = parsed.searchParams.get('host')
  const common = { onnotice: ignore, types: { json }, ...options }
  if (!directory?.startsWith('/')) return postgres(url, common)
  // The driver would send an unknown query parameter to the server as a setting.
  parsed.searchParams.delete('host')
  const path = `${directory}/.s.PGSQL.${parsed.port || SOCKET_PORT}`
  return postgres(parsed.href, { ...common, host: directory, path })
}

// Drizzle hands over JSON as text it has already encoded, raw statements hand over values: text passes, the rest
// is encoded. `sql.json()` encodes by itself (guard.ts), so a string value stays a string there.
const json = {
  to: 114,
  from: [114, 3802],
  serialize: (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: (text: string): unknown => JSON.parse(text),
}

function ignore(): void {}
