/** `update` also stands in `for update` and `do update set`, which name no table. */
const WRITE = /\b(insert into|(?<!\bfor |\bdo )update|delete from)\s+([\w."]+)/gi

/**
 * Names the write in a message to Postgres, such as `insert runs, walks` or `commit`.
 * @param known the texts of the connection's prepared statements, by name; completed here
 * @returns an empty text if it writes nothing
 */
export function writesIn(message: Buffer, known: Map<string, string>): string {
  const names: string[] = []
  for (const text of statementsIn(message, known)) {
    const name = nameOf(text)
    if (name !== '') names.push(name)
  }
  return names.join(' + ')
}

function nameOf(text: string): string {
  if (/^\s*commit\b/i.test(text)) return 'commit'
  const tables = new Map<string, Set<string>>()
  for (const [, verb = '', table = ''] of text.matchAll(WRITE)) {
    const key = verb.split(/\s/)[0]?.toLowerCase() ?? ''
    tables.set(key, (tables.get(key) ?? new Set()).add(table.replaceAll('"', '')))
  }
  return [...tables].map(([verb, names]) => `${verb} ${[...names].join(', ')}`).join('; ')
}

/** The statements that a message of the frontend executes: simple queries, and bound ones. */
function* statementsIn(message: Buffer, known: Map<string, string>): Generator<string> {
  for (let at = 0; at + 5 <= message.length; ) {
    const type = String.fromCharCode(message[at] ?? 0)
    const end = at + 1 + message.readInt32BE(at + 1)
    // The first message of a connection has no type.
    if (!/[A-Za-z]/.test(type) || end > message.length) return
    const fields = message.toString('utf8', at + 5, end).split('\0')
    if (type === 'Q') yield fields[0] ?? ''
    if (type === 'P') known.set(fields[0] ?? '', fields[1] ?? '')
    if (type === 'B') yield known.get(fields[1] ?? '') ?? ''
    at = end
  }
}
